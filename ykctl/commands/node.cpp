// node add, list, show, update, drain, undrain, remove.

#include <ostream>

#include <fmt/format.h>

#include "libcore/base/counted.h"
#include "protocol/si/enums.h"
#include "ykctl/commands/dumps.h"
#include "ykctl/commands/long_lists.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/commands/states.h"
#include "ykctl/commands/updates.h"
#include "ykctl/commands/values.h"
#include "ykctl/commands/watch.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using si::NodeAction;
using wire::Value;

constexpr const char* kPartitionAttribute = "si/node-partition";

struct AddOptions {
    std::optional<std::string> name, file, name_format;
    std::vector<std::string> resources, attributes;
    std::optional<std::int64_t> count;
    std::int64_t first = 1;
    bool drained = false;
};

int wire_number(NodeAction action) {
    return static_cast<int>(action);
}

/// Sends nodes and reports each as `outcome`.
std::optional<Failure> send_nodes(Context& context, Value nodes, const std::string& outcome, Report& report) {
    auto told = send_update(context, "UpdateNode", {{"nodes", nodes}});
    if (!told.ok()) return told.error();
    for (const auto& node : nodes) {
        const auto id = text_of(node, "nodeID");
        report.add(done(*told, id, "node " + id, id, outcome));
    }
    return std::nullopt;
}

Value in_partition(Context& context, Value node) {
    if (context.settings().partition) node["attributes"][kPartitionAttribute] = *context.settings().partition;
    return node;
}

Outcome add_from_file(Context& context, const std::string& path) {
    const auto complete = [&](Value node) {
        if (!node.contains("action")) node["action"] = wire_number(NodeAction::Create);
        if (member_of(node, "attributes").contains(kPartitionAttribute)) return node;
        return in_partition(context, std::move(node));
    };
    return send_file(context, path, node_spec(), "node", complete, [&](Value nodes, Report& report) {
        return send_nodes(context, std::move(nodes), "added", report);
    });
}

Outcome add_nodes(Context& context, const AddOptions& options) {
    if (options.file) {
        if (options.name || !options.resources.empty()) return usage_error("node add: either -f FILE or NAME with -R");
        return add_from_file(context, *options.file);
    }
    if (!options.name && !options.name_format)
        return usage_error("node add: NAME, or --name-format, or -f FILE is needed");
    if (options.resources.empty())
        return usage_error("node add: -R is needed", {"for example  -R memory=64Gi,vcore=16"});
    if (options.count && *options.count < 1) return usage_error("--count: at least 1");
    YK_TRY(pattern, check_name_format(options.name_format.value_or(options.name.value_or("") + "-%d")));
    YK_TRY(resource, parse_resources(options.resources));
    YK_TRY(attributes, parse_pairs(options.attributes, "-a"));
    Value node{{"nodeID", ""},
               {"action", wire_number(options.drained ? NodeAction::CreateDrain : NodeAction::Create)},
               {"attributes", attributes},
               {"schedulableResource", resource}};
    node = in_partition(context, std::move(node));
    Report report{context};
    Batches batches{[&](Value nodes) { return send_nodes(context, std::move(nodes), "added", report); }};
    const bool many = options.count || options.name_format;
    for (std::int64_t i = 0; i < options.count.value_or(1); ++i) {
        node["nodeID"] = many ? numbered_name(pattern, options.first + i) : *options.name;
        if (auto failure = batches.add(node)) return report.finish(std::move(failure));
    }
    return report.finish(batches.finish());
}

Outcome change_nodes(Context& context, const std::vector<std::string>& names, const Value& change,
                     const std::string& outcome) {
    Report report{context};
    Batches batches{[&](Value nodes) { return send_nodes(context, std::move(nodes), outcome, report); }};
    for (const auto& name : names) {
        auto node = change;
        node["nodeID"] = name;
        if (auto failure = batches.add(in_partition(context, std::move(node))))
            return report.finish(std::move(failure));
    }
    return report.finish(batches.finish());
}

Outcome update_node(Context& context, const std::string& name, const AddOptions& options) {
    Value change{{"action", wire_number(NodeAction::Update)}};
    if (!options.resources.empty()) {
        YK_TRY(resource, parse_resources(options.resources));
        change["schedulableResource"] = std::move(resource);
    }
    if (!options.attributes.empty()) {
        YK_TRY(attributes, parse_pairs(options.attributes, "-a"));
        change["attributes"] = std::move(attributes);
    }
    if (change.size() == 1) return usage_error("node update: nothing to change; give -R or -a");
    if (context.settings().partition && options.attributes.empty()) {
        YK_TRY(node, find_node(context, name, 0)); // -p is told as an attribute, and attributes replace all others
        change["attributes"] = member_of(node, "attributes");
    }
    return change_nodes(context, {name}, change, "updated");
}

Outcome remove_nodes(Context& context, const std::vector<std::string>& names, bool force) {
    if (!force) {
        YK_TRY(nodes, find_nodes(context, names));
        for (const auto& node : nodes) {
            const auto running = number_of(node, "allocationCount");
            if (running == 0) continue;
            const auto name = text_of(node, "nodeID");
            return Failure{
                Exit::Refused,
                fmt::format("node {} still has {}", name, counted(static_cast<std::size_t>(running), "allocation")),
                {"drain it first:  ykctl node drain " + name + "      or release them with it:  --force"},
                0,
                {},
                {}};
        }
    }
    return change_nodes(context, names, {{"action", wire_number(NodeAction::Decommission)}}, "removed");
}

std::string state_of(const Value& node) {
    return flag_of(node, "schedulable") ? "Active" : "Draining";
}

std::string reserved_by(const Value& node) {
    std::vector<std::string> keys;
    for (const auto& key : member_of(node, "reservations")) {
        if (key.is_string()) keys.push_back(printable(key.get<std::string>()));
    }
    return join(keys, ",");
}

std::int64_t allocations_on(const Value& node) {
    if (flag_of(node, "brief")) return number_of(node, "allocationCount");
    return static_cast<std::int64_t>(member_of(node, "allocations").size());
}

std::string applications_on(const Value& node) {
    if (flag_of(node, "brief")) return "-"; // too many to be looked through
    std::vector<std::string> ids;
    for (const auto& allocation : member_of(node, "allocations")) ids.push_back(text_of(allocation, "applicationId"));
    std::sort(ids.begin(), ids.end());
    return std::to_string(std::unique(ids.begin(), ids.end()) - ids.begin());
}

double share_of(const Value& node) {
    return dominant_share(member_of(node, "allocated"), member_of(node, "capacity"));
}

ListLayout node_layout(const Style& style) {
    return {
        {text_column("NAME", "nodeID"),
         {{"STATE"}, state_of},
         resource_column("CAPACITY", "capacity"),
         resource_column("ALLOCATED", "allocated"),
         resource_column("OCCUPIED", "occupied", true),
         ordered({{"FREE"}, free_text}, [](const Value& node) { return resource_key(member_of(node, "available")); }),
         ordered({{"USED", Align::Right}, [style](const Value& node) { return usage_text(share_of(node), style); }},
                 [](const Value& node) { return SortKey{share_of(node)}; }),
         {{"ALLOCS", Align::Right}, [](const Value& node) { return std::to_string(allocations_on(node)); }, true},
         {{"APPS", Align::Right}, applications_on},
         {{"RESERVED"}, reserved_by},
         partition_column(),
         rm_column(),
         text_column("HOST", "hostName", true),
         text_column("RACK", "rackName", true)},
        [](const Value& node) { return text_of(node, "nodeID"); },
        "no nodes"};
}

std::string node_text(const Value& node, const Style& style) {
    const auto share = share_of(node);
    std::vector<std::pair<std::string, std::string>> fields{{"node", printable(text_of(node, "nodeID"))},
                                                            {"partition", printable(text_of(node, "partition"))},
                                                            {"state", state_of(node)},
                                                            {"capacity", resource_text(member_of(node, "capacity"))},
                                                            {"allocated", resource_text(member_of(node, "allocated"))},
                                                            {"occupied", resource_text(member_of(node, "occupied"))},
                                                            {"free", free_text(node)},
                                                            {"used", usage_text(share, style)},
                                                            {"reserved for", reserved_by(node)}};
    for (const auto& [key, value] : member_of(node, "attributes").items()) {
        fields.emplace_back(printable(key), value.is_string() ? printable(value.get<std::string>()) : value.dump());
    }
    auto text = fields_text(fields, style);
    const auto& allocations = member_of(node, "allocations");
    if (!allocations.empty()) {
        text += "\n" + list_text(std::vector<Value>(allocations.begin(), allocations.end()), allocation_layout(),
                                 Format::Table, style);
    }
    return text;
}

void define_change(Command node, Context& context, const char* name, const char* help, NodeAction action,
                   const char* outcome) {
    const auto command = node.sub(name, help);
    const auto names = std::make_shared<std::vector<std::string>>();
    command.option("NAME", *names, "nodes").required();
    command.run([&context, names, action, outcome] {
        return change_nodes(context, distinct(*names), {{"action", wire_number(action)}}, outcome);
    });
}

void define_add(Command node, Context& context) {
    const auto command = node.sub("add", "add nodes, from options or from a file");
    const auto options = std::make_shared<AddOptions>();
    command.option("NAME", options->name, "id of the node; with --count the start of the ids");
    command.option("-R,--resources", options->resources, "capacity: memory=64Gi,vcore=16").value("NAME=QUANTITY,...");
    command.option("-a,--attribute", options->attributes, "attribute").value("KEY=VALUE");
    command.flag("--drained", options->drained, "not schedulable at first");
    command.option("--count", options->count, "so many nodes, numbered");
    command.option("--name-format", options->name_format, "ids of the nodes, default NAME-%d").value("FORMAT");
    command.option("--first", options->first, "first number, default 1");
    command
        .option("-f,--file", options->file,
                "NodeInfo messages as YAML, JSON or JSON-lines; a directory; - is standard input")
        .value("FILE");
    command.run([&context, options] { return add_nodes(context, *options); });
}

void define_list(Command command, Context& context) {
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch);
    command.run([&context, watch] {
        return list_or_watch(context, *watch,
                             {{},
                              [&context] { return Answer<ListLayout>{node_layout(context.style())}; },
                              [&context](const TakeItems& take) { return list_nodes(context, take); }});
    });
}

void define_show(Command node, Context& context) {
    const auto command = node.sub("show", "one node with its allocations");
    const auto name = std::make_shared<std::string>();
    command.option("NAME", *name, "id of the node").required();
    command.run([&context, name]() -> Outcome {
        YK_TRY(found, find_node(context, *name));
        const auto text = node_text(found, context.style());
        if (flag_of(found, "brief") && context.format() != Format::Name)
            return show_long(context, found, text, {{"allocations", allocation_layout()}});
        return context.show_item(found, *name, text);
    });
}

void define_update(Command node, Context& context) {
    const auto command = node.sub("update", "change capacity or attributes; allocations stay");
    const auto name = std::make_shared<std::string>();
    const auto options = std::make_shared<AddOptions>();
    command.option("NAME", *name, "id of the node").required();
    command.option("-R,--resources", options->resources, "the new capacity, all of it").value("NAME=QUANTITY,...");
    command.option("-a,--attribute", options->attributes, "the new attributes, all of them").value("KEY=VALUE");
    command.run([&context, name, options] { return update_node(context, *name, *options); });
}

void define_remove(Command node, Context& context) {
    const auto command = node.sub("remove", "remove nodes");
    command.alias("rm");
    const auto names = std::make_shared<std::vector<std::string>>();
    const auto force = std::make_shared<bool>(false);
    command.option("NAME", *names, "nodes").required();
    command.flag("--force", *force, "release what runs there");
    command.run([&context, names, force] { return remove_nodes(context, distinct(*names), *force); });
}

} // namespace

void define_node(Command root, Context& context) {
    const auto node = root.sub("node", "nodes: add, look at, drain, remove");
    define_add(node, context);
    define_list(node.sub("list", "all nodes").alias("ls"), context);
    define_show(node, context);
    define_update(node, context);
    define_change(node, context, "drain", "nothing new on these nodes; what runs stays", NodeAction::Drain, "drained");
    define_change(node, context, "undrain", "schedule on these nodes again", NodeAction::Schedulable, "undrained");
    define_remove(node, context);
    define_list(root.sub("nodes", "node list").hidden(), context);
}

} // namespace yk::cli
