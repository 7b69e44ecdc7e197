// SPDX-License-Identifier: Apache-2.0
// The commands node add, list, show, update, remove; node_drain.h has drain and undrain.

#include <ostream>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "protocol/si/enums.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/existing.h"
#include "ykctl/client/long_lists.h"
#include "ykctl/client/states.h"
#include "ykctl/client/updates.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/node_drain.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/commands/show.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using si::NodeAction;
using wire::Value;

using NodeBatches = Batches<std::vector<si::NodeInfo>>;

struct AddOptions {
    std::optional<std::string> name, file, name_format;
    std::vector<std::string> resources, attributes, devices;
    std::optional<std::int64_t> count;
    std::int64_t first = 1;
    bool drained = false, if_not_exists = false;
};

Answer<ElementOutcomes> send(Context& context, const Value& nodes) { // of a file
    return send_update(context, "UpdateNode", {{"nodes", nodes}});
}
Answer<ElementOutcomes> send(Context& context, const std::vector<si::NodeInfo>& nodes) {
    si::NodeRequest update;
    update.nodes = nodes;
    return send_update(context, std::move(update));
}

std::string id_of(const Value& node) {
    return text_of(node, "nodeID");
}
const std::string& id_of(const si::NodeInfo& node) {
    return node.node_id;
}

constexpr const char* kAdded = "added";

/// Sends nodes and adds each to the report, as `outcome` unless it was refused.
template <class Nodes>
std::optional<Failure> send_nodes(Context& context, const Nodes& nodes, const std::string& outcome, Report& report) {
    auto outcomes = send(context, nodes);
    if (!outcomes.ok()) return outcomes.error();
    for (const auto& node : nodes) {
        const std::string id = id_of(node);
        report.add(outcome == kAdded ? added(*outcomes, id_key(id), "node " + id, id, outcome)
                                     : done(*outcomes, id_key(id), "node " + id, id, outcome));
    }
    return std::nullopt;
}

/// Adds nodes; with --if-not-exists those that are not there.
template <class Nodes>
std::optional<Failure> create_nodes(Context& context, Nodes nodes, const AddOptions& options, Report& report) {
    if (options.if_not_exists) {
        const auto there = existing_nodes(context, nodes);
        if (!there.ok()) return there.error();
        leave_existing(
            nodes, *there, "node", [](const auto& node) { return node_key(node); }, report);
    }
    return nodes.empty() ? std::nullopt : send_nodes(context, nodes, kAdded, report);
}

Outcome add_from_file(Context& context, const AddOptions& options) {
    const auto complete = [&](Value node) {
        if (!node.contains("action")) node["action"] = static_cast<int>(NodeAction::Create);
        const auto& partition = context.settings().partition;
        if (partition && !member_of(node, "attributes").contains(si::kPartitionAttribute))
            node["attributes"][si::kPartitionAttribute] = *partition;
        return node;
    };
    return send_file(context, *options.file, node_spec(), "node", complete, [&](Value nodes, Report& report) {
        return create_nodes(context, std::move(nodes), options, report);
    });
}

Outcome add_nodes(Context& context, const AddOptions& options) {
    if (options.file) {
        if (options.name || !options.resources.empty() || !options.devices.empty())
            return usage_error("node add: either -f FILE or NAME with -R");
        return add_from_file(context, options);
    }
    if (!options.name && !options.name_format)
        return usage_error("node add: NAME, or --name-format, or -f FILE is needed");
    if (options.resources.empty() && options.devices.empty())
        return usage_error("node add: -R is needed", {"for example  -R memory=64Gi,vcore=16"});
    if (options.count && *options.count < 1) return usage_error("--count: at least 1");
    YK_TRY(pattern, check_name_format(options.name_format.value_or(options.name.value_or("") + "-%d")));
    YK_TRY(resource, parse_resources(options.resources));
    YK_TRY(attributes, parse_pairs(options.attributes, "-a"));
    auto node = action_of(options.drained ? NodeAction::CreateDrain : NodeAction::Create);
    node.attributes = std::move(attributes);
    node.schedulable_resource = std::move(resource);
    if (!options.devices.empty()) {
        YK_TRY(devices, parse_device_sizes(options.devices));
        node.devices = std::move(devices);
    }
    put_partition(context, node);
    Report report{context};
    NodeBatches batches{[&](auto nodes) { return create_nodes(context, std::move(nodes), options, report); }};
    const bool many = options.count || options.name_format;
    for (std::int64_t i = 0; i < options.count.value_or(1); ++i) {
        node.node_id = many ? numbered_name(pattern, options.first + i) : *options.name;
        if (auto failure = batches.add(node)) return report.finish(std::move(failure));
    }
    return report.finish(batches.finish());
}

Outcome change_nodes(Context& context, const std::vector<std::string>& names, si::NodeInfo change,
                     const std::string& outcome) {
    put_partition(context, change);
    Report report{context};
    NodeBatches batches{[&](const auto& nodes) { return send_nodes(context, nodes, outcome, report); }};
    for (const auto& name : names) {
        change.node_id = name;
        if (auto failure = batches.add(change)) return report.finish(std::move(failure));
    }
    return report.finish(batches.finish());
}

Outcome update_node(Context& context, const std::string& name, const AddOptions& options) {
    auto change = action_of(NodeAction::Update);
    if (!options.resources.empty()) {
        YK_TRY(resource, parse_resources(options.resources));
        change.schedulable_resource = std::move(resource);
    }
    if (!options.attributes.empty()) {
        YK_TRY(attributes, parse_pairs(options.attributes, "-a"));
        change.attributes = std::move(attributes);
    }
    if (!options.devices.empty()) {
        YK_TRY(devices, parse_device_sizes(options.devices));
        change.devices = std::move(devices);
    }
    if (!change.schedulable_resource && !change.attributes && !change.devices)
        return usage_error("node update: nothing to change; give -R, -a or --devices");
    if (context.settings().partition && options.attributes.empty()) {
        YK_TRY(node,
               find_node(context, name, 0)); // -p is sent as an attribute, and the attributes sent replace all others
        change.attributes = attributes_with(node, drain_reason(node));
    }
    return change_nodes(context, {name}, std::move(change), "updated");
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
                fmt::format("node {} still has {}", name, pluralize(static_cast<std::size_t>(running), "allocation")),
                {"drain it first:  ykctl node drain " + name + "      or release them with it:  --force"},
                0,
                {},
                {}};
        }
    }
    return change_nodes(context, names, action_of(NodeAction::Decommission), "removed");
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
    if (flag_of(node, "brief")) return "-"; // it has too many allocations to look through
    std::vector<std::string> ids;
    for (const auto& allocation : member_of(node, "allocations")) ids.push_back(text_of(allocation, "applicationId"));
    std::sort(ids.begin(), ids.end());
    return std::to_string(std::unique(ids.begin(), ids.end()) - ids.begin());
}

double share_of(const Value& node) {
    return dominant_share(member_of(node, "allocated"), member_of(node, "capacity"));
}

Column reason_column() {
    Column column{{"REASON"}, [](const Value& node) { return printable(drain_reason(node)); }};
    column.wide = column.when_filled = true;
    return column;
}

ListLayout node_layout(const Style& style) {
    return {
        {text_column("NAME", "nodeID"),
         {{"STATE", Align::Left, 2}, node_state_text},
         resource_column("CAPACITY", "capacity"),
         resource_column("ALLOCATED", "allocated"),
         resource_column("OCCUPIED", "occupied", true),
         ordered({{"FREE", Align::Left, 1}, free_text},
                 [](const Value& node) { return resource_key(member_of(node, "available")); }),
         ordered({{"USED", Align::Right, 2}, [style](const Value& node) { return usage_text(share_of(node), style); }},
                 [](const Value& node) { return SortKey{share_of(node)}; }),
         {{"ALLOCS", Align::Right}, [](const Value& node) { return std::to_string(allocations_on(node)); }, true},
         {{"APPS", Align::Right}, applications_on},
         {{"RESERVED"}, reserved_by},
         reason_column(),
         partition_column(),
         rm_column(),
         text_column("HOST", "hostName", true),
         text_column("RACK", "rackName", true)},
        [](const Value& node) { return text_of(node, "nodeID"); },
        "no nodes"};
}

/// A line with a bar for each device: `nvidia.com/gpu 3   ████░░░░  50%  500 of 1000`.
void add_devices(std::vector<std::pair<std::string, std::string>>& fields, const Value& node, const Style& style) {
    const auto& devices = member_of(node, "devices");
    for (const auto& [name, in_use] : member_of(node, "usedDevices").items()) {
        const auto& sizes = member_of(devices, name.c_str());
        std::size_t index = 0;
        for (const auto& each : in_use) {
            const bool is_listed = sizes.is_array() && index < sizes.size() && sizes[index].is_number();
            const auto size = is_listed ? sizes[index].get<std::int64_t>() : 0;
            const auto used = each.is_number() ? each.get<std::int64_t>() : 0;
            auto text = size > 0 ? fmt::format("{}  {} of {}",
                                               usage_text(static_cast<double>(used) / static_cast<double>(size), style),
                                               used, size)
                                 : fmt::format("gone, {} in use", used);
            fields.emplace_back(fmt::format("{} {}", printable(name), index++), std::move(text));
        }
    }
    if (flag_of(node, "deviceConflict"))
        fields.emplace_back("devices", "DEVICE_CONFLICT: something there has not the devices that it should have; "
                                       "no ask with devices is placed there until it has");
}

} // namespace

Answer<Shown> look_at_node(Context& context, const std::string& name) {
    YK_TRY(node, find_node(context, name, kMaxInline));
    const auto style = context.style();
    const auto share = share_of(node);
    std::vector<std::pair<std::string, std::string>> fields{{"node", printable(text_of(node, "nodeID"))},
                                                            {"partition", printable(text_of(node, "partition"))},
                                                            {"state", node_state_text(node)},
                                                            {"capacity", resource_text(member_of(node, "capacity"))},
                                                            {"allocated", resource_text(member_of(node, "allocated"))},
                                                            {"occupied", resource_text(member_of(node, "occupied"))},
                                                            {"free", free_text(node)},
                                                            {"used", usage_text(share, style)},
                                                            {"reserved for", reserved_by(node)}};
    for (const auto& [key, value] : member_of(node, "attributes").items()) {
        fields.emplace_back(printable(key), value.is_string() ? printable(value.get<std::string>()) : value.dump());
    }
    add_devices(fields, node, style);
    const PartList allocations{"allocations", "allocations", allocations_on(node),
                               "ykctl alloc list --node " + printable(name)};
    YK_TRY(rows, first_rows(context, node, allocations, allocation_layout()));
    return Shown{node, name, fields_text(fields, style) + (rows.empty() ? "" : "\n" + rows)};
}

namespace {

void define_add(Command node, Context& context) {
    const auto command = node.sub("add", "add nodes, from options or from a file");
    const auto options = std::make_shared<AddOptions>();
    command.option("NAME", options->name, "id of the node; with --count the start of the ids");
    command.option("-R,--resources", options->resources, "capacity: memory=64Gi,vcore=16").value("NAME=QUANTITY,...");
    command.option("--devices", options->devices, "devices: nvidia.com/gpu=8x1000, eight of 1000 each")
        .value("NAME=COUNTxSIZE,...");
    command.option("-a,--attribute", options->attributes, "attribute").value("KEY=VALUE");
    command.flag("--drained", options->drained, "not schedulable at first");
    command.flag("--if-not-exists", options->if_not_exists, "leave those as they are that are there already");
    command.option("--count", options->count, "so many nodes, numbered");
    command.option("--name-format", options->name_format, "ids of the nodes, default NAME-%d").value("FORMAT");
    command.option("--first", options->first, "first number, default 1");
    command
        .option("-f,--file", options->file,
                "nodes as YAML, JSON or JSON-lines, or what show -o yaml prints; a directory; - is standard input")
        .value("FILE");
    command.run([&context, options] { return add_nodes(context, *options); });
}

void define_list(Command command, Context& context) {
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch, FilterKind{"node", node_states(), "attributes", "attributes"});
    command.run([&context, watch] {
        return list_or_watch(context, *watch,
                             {{},
                              [&context] { return Answer<ListLayout>{node_layout(context.style())}; },
                              [&context](const TakeItems& take) { return list_nodes(context, take); }});
    });
}

void define_show(Command node, Context& context) {
    const auto command = node.sub("show", "one node with its first allocations; all with -o wide");
    const auto name = std::make_shared<std::string>();
    command.option("NAME", *name, "id of the node").required();
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch);
    command.run([&context, name, watch]() -> Outcome {
        if (watch->on || !context.machine_readable())
            return show_or_watch(context, *watch, [&] { return look_at_node(context, *name); });
        YK_TRY(found, find_node(context, *name));
        return show_whole(context, found);
    });
}

void define_update(Command node, Context& context) {
    const auto command = node.sub("update", "change capacity or attributes; allocations stay");
    const auto name = std::make_shared<std::string>();
    const auto options = std::make_shared<AddOptions>();
    command.option("NAME", *name, "id of the node").required();
    command.option("-R,--resources", options->resources, "the new capacity, all of it").value("NAME=QUANTITY,...");
    command.option("--devices", options->devices, "the new devices, all of them").value("NAME=COUNTxSIZE,...");
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
    define_node_drain(node, context);
    define_remove(node, context);
    define_list(root.sub("nodes", "node list").hidden(), context);
}

} // namespace yk::cli
