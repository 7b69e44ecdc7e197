// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/node.h"
#include "ykctl/mcs/chosen_partition.h"

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/mcs/send_change.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kKind = "node";

Outcome change(Context& context, si::McsWriteRequest request, const std::string& done) {
    request.kind = kKind;
    YK_CHECKED(send_change(context, request, done));
    return Exit::Ok;
}

struct NodeOptions {
    std::string id;
    std::vector<std::string> resources, attributes;
    bool is_local = false;
};

void define_options(Command command, NodeOptions& options, const char* resources, const char* attributes) {
    command.option("NAME", options.id, "id of the node").required();
    command.option("-R,--resources", options.resources, resources).value("NAME=QUANTITY,...");
    command.option("-a,--attribute", options.attributes, attributes).value("KEY=VALUE");
}

/// What the options name; what they do not is left out.
Answer<si::McsBody> body_of(const NodeOptions& options) {
    si::McsBody body;
    if (!options.resources.empty()) {
        YK_TRY(resource, parse_resources(options.resources));
        body.resource = std::move(resource);
    }
    if (!options.attributes.empty()) {
        YK_TRY(attributes, parse_pairs(options.attributes, "--attribute"));
        body.tags = std::move(attributes);
    }
    return body;
}

/// The machine is that of this command, too, unless ykd is reached over a network.
void make_local(NodeOptions& options) {
    options.attributes.emplace_back("kind=local");
    if (!options.resources.empty()) return;
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    options.resources = {"memory=" + std::to_string(pages * page),
                         "vcore=" + std::to_string(::sysconf(_SC_NPROCESSORS_ONLN))};
}

void define_create(Command noun, Context& context) {
    const auto command = noun.sub("create", "have deployments placed on this node, too");
    const auto options = std::make_shared<NodeOptions>();
    define_options(command, *options, "capacity: memory=64Gi,vcore=16", "attribute");
    command.flag("--local", options->is_local,
                 "the machine of ykd, which runs the commands of replicas there; default capacity: all of it");
    command.run([&context, options]() -> Outcome {
        if (options->is_local) make_local(*options);
        if (options->resources.empty()) return usage_error("--resources: what is its capacity?");
        YK_TRY(body, body_of(*options));
        body.partition = context.settings().partition;
        return change(context, {.verb = "create", .id = options->id, .body = std::move(body)}, "created");
    });
}

void define_set(Command noun, Context& context) {
    const auto command = noun.sub("set", "change capacity or attributes; what runs there stays");
    const auto options = std::make_shared<NodeOptions>();
    define_options(command, *options, "the new capacity, all of it", "the new attributes, all of them");
    command.run([&context, options]() -> Outcome {
        if (options->resources.empty() && options->attributes.empty())
            return usage_error("what is to change?  --resources, --attribute");
        YK_TRY(body, body_of(*options));
        return change(context, {.verb = "set", .id = options->id, .body = std::move(body)}, "changed");
    });
}

void define_change(Command noun, Context& context, const char* verb, const char* help, const char* done) {
    const auto command = noun.sub(verb, help);
    const auto id = std::make_shared<std::string>();
    command.option("NAME", *id, "id of the node").required();
    command.run([&context, id, verb, done] { return change(context, {.verb = verb, .id = *id}, done); });
}

std::string state_of(const Value& node) {
    if (const auto refusal = text_of(node, "refusal"); !refusal.empty()) return "refused";
    if (!flag_of(node, "registered")) return "waiting";
    return flag_of(node, "schedulable") ? "schedulable" : "draining";
}

ListLayout node_layout(const Context& context) {
    return {{text_column("NAME", "id"),
             text_column("PARTITION", "partition"),
             {{"STATE"}, state_of},
             resource_column("CAPACITY", "capacity", false),
             {{"REASON"}, [](const Value& node) { return or_dash(printable(text_of(node, "refusal"))); }}},
            [](const Value& node) { return text_of(node, "id"); },
            nothing_of(context, "nodes")};
}

std::optional<Failure> list_mcs_nodes(Context& context, const TakeItems& take) {
    return read_items(context, {.what = "list", .kind = kKind}, [&](std::vector<Value> nodes) {
        std::erase_if(nodes, [&context](const Value& node) { return !is_in_partition(context, node); });
        take(std::move(nodes));
    });
}

void define_list(Command command, Context& context) {
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch,
                 FilterKind{"mcs node", {"refused", "waiting", "schedulable", "draining"}, "attributes", "attributes"});
    command.run([&context, watch] {
        return list_or_watch(context, *watch,
                             {{},
                              [&context] { return Answer<ListLayout>{node_layout(context)}; },
                              [&context](const TakeItems& take) { return list_mcs_nodes(context, take); }});
    });
}

} // namespace

void define_mcs_node(Command noun, Context& context) {
    const auto node = noun.sub("node", "the nodes that deployments are placed on");
    define_create(node, context);
    define_list(node.sub("list", "nodes, by name").alias("ls"), context);
    define_set(node, context);
    define_change(node, context, "drain", "nothing new on this node; what runs stays", "drained");
    define_change(node, context, "undrain", "place on this node again", "undrained");
    define_change(node, context, "delete", "remove a node; what ran there begins elsewhere", "deleted");
}

} // namespace yk::cli
