// SPDX-License-Identifier: Apache-2.0
// The command cluster fragmentation: how much of what is idle can be used by nobody, and why (F-034).

#include <array>

#include <fmt/format.h>

#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

/// What makes what is idle unusable: the field, the heading, and in words. `%` stands for the other resources.
struct Cause {
    const char* field;
    const char* heading;
    const char* words;
};
constexpr std::array<Cause, 5> kCauses{{{"devices", "DEVICES", "no device has enough left"},
                                        {"others", "OTHERS", "the node lacks %"},
                                        {"both", "BOTH", "no device has enough left, and the node lacks %"},
                                        {"attribute", "ATTRIBUTE", "the node lacks an attribute"},
                                        {"unasked", "UNASKED", "asks that want none of it"}}};

double real_of(const Value& item, const char* field) {
    const Value& number = member_of(item, field);
    return number.is_number() ? number.get<double>() : 0.0;
}

std::string amount_text(double amount) {
    return fmt::format("{:.0f}", amount);
}

std::string percent_text(double part, double whole) {
    return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

Column share_column(const Cause& cause) {
    return ordered(
        {{cause.heading, Align::Right},
         [field = cause.field](const Value& item) {
             return percent_text(real_of(member_of(item, "causes"), field), real_of(item, "idle"));
         },
         true},
        [field = cause.field](const Value& item) { return SortKey{real_of(member_of(item, "causes"), field)}; });
}

/// Idle, what of it can be used by nobody, and why, of a partition or a node.
void add_columns(std::vector<Column>& columns) {
    const auto amount = [](const char* heading, const char* field) {
        return ordered(
            {{heading, Align::Right}, [field](const Value& item) { return amount_text(real_of(item, field)); }},
            [field](const Value& item) { return SortKey{real_of(item, field)}; });
    };
    columns.push_back(amount("IDLE", "idle"));
    columns.push_back(amount("UNUSABLE", "fragments"));
    columns.push_back(
        ordered({{"RATIO", Align::Right},
                 [](const Value& item) { return percent_text(real_of(item, "fragments"), real_of(item, "idle")); }},
                [](const Value& item) { return SortKey{real_of(item, "ratio")}; }));
    for (const Cause& each : kCauses) columns.push_back(share_column(each));
}

std::string others_of(const Value& partition) {
    std::vector<std::string> names;
    for (const Value& each : member_of(partition, "others"))
        if (each.is_string()) names.push_back(printable(each.get<std::string>()));
    return join(names, ", ");
}

std::string in_words(const Cause& cause, const std::string& others) {
    std::string words = cause.words;
    if (const std::size_t at = words.find('%'); at != std::string::npos) words.replace(at, 1, others);
    return words;
}

std::string devices_of(const Value& asks) {
    const Value& devices = member_of(asks, "devices");
    return devices.empty() ? "" : fmt::format("{}x{}", number_of(devices, "count"), number_of(devices, "each"));
}

std::string attributes_of(const Value& asks) {
    std::vector<std::string> texts;
    for (const auto& [key, value] : member_of(asks, "attributes").items())
        texts.push_back(printable(key + "=" + (value.is_string() ? value.get<std::string>() : "")));
    return join(texts, ", ");
}

std::string workload_text(const Value& partition, const Style& style) {
    Table table{{{"AMOUNT", Align::Right}, {"DEVICES"}, {"BESIDE"}, {"ATTRIBUTES"}, {"SHARE", Align::Right}}};
    for (const Value& asks : member_of(partition, "workload"))
        table.add({std::to_string(number_of(asks, "amount")), devices_of(asks),
                   resource_text(member_of(asks, "others")), attributes_of(asks),
                   percent_text(real_of(asks, "share"), 1)});
    return table.text(style);
}

std::string partition_text(const Value& partition, const Style& style) {
    std::vector<std::pair<std::string, std::string>> fields{{"partition", printable(text_of(partition, "partition"))},
                                                            {"rm", printable(text_of(partition, "clusterId"))}};
    const std::string resource = printable(text_of(partition, "resource"));
    if (resource.empty() || member_of(partition, "workload").empty()) {
        fields.emplace_back("unusable", "nothing is known of the asks to come: none has arrived, and none is given");
        return fields_text(fields, style);
    }
    const double idle = real_of(partition, "idle"), fragments = real_of(partition, "fragments");
    const std::string others = others_of(partition);
    fields.emplace_back("resource", resource + (others.empty() ? "" : ", beside " + others));
    fields.emplace_back("idle", amount_text(idle));
    fields.emplace_back("unusable", idle > 0 ? fmt::format("{}: {} of what is idle can be used by nobody",
                                                           amount_text(fragments), percent_text(fragments, idle))
                                             : "0: nothing is idle");
    std::vector<std::string> causes;
    for (const Cause& each : kCauses)
        if (const double part = real_of(member_of(partition, "causes"), each.field); part > 0)
            causes.push_back(percent_text(part, idle) + " " + in_words(each, others));
    if (!causes.empty()) fields.emplace_back("because", join(causes, "; "));
    const Value& learnt = member_of(partition, "learnt");
    fields.emplace_back("expected", learnt.is_boolean() && learnt.get<bool>() ? "learnt from the asks that arrived"
                                                                              : "as the configuration says");
    return fields_text(fields, style) + "\n" + workload_text(partition, style);
}

ListLayout partitions_layout() {
    ListLayout layout{{text_column("NAME", "partition"), rm_column(), text_column("RESOURCE", "resource")},
                      [](const Value& item) { return text_of(item, "partition"); },
                      "no partitions"};
    add_columns(layout.columns);
    layout.drawing = [](const std::vector<Value>& items, const Style& style) {
        std::string text;
        for (const Value& each : items) text += (text.empty() ? "" : "\n") + partition_text(each, style);
        return text;
    };
    return layout;
}

ListLayout nodes_layout() {
    ListLayout layout{
        {text_column("NAME", "nodeID")}, [](const Value& item) { return text_of(item, "nodeID"); }, "no nodes"};
    add_columns(layout.columns);
    layout.columns.push_back(partition_column());
    layout.columns.push_back(rm_column());
    return layout;
}

/// All at once, since a table is not what people see.
Listing partitions_listing(Context& context) {
    const auto fetch = [&context]() -> Answer<std::vector<Value>> {
        std::vector<Value> all;
        const auto take = [&all](const std::vector<Value>& items) {
            all.insert(all.end(), items.begin(), items.end());
        };
        if (auto failure = list_objects(context, "fragmentation", {}, take)) return *std::move(failure);
        return all;
    };
    return {fetch, [] { return Answer<ListLayout>{partitions_layout()}; }};
}

Listing nodes_listing(Context& context) {
    const auto pages = [&context](const TakeItems& take) {
        return list_objects(context, "fragmentation", {.flat = true}, take);
    };
    return {{}, [] { return Answer<ListLayout>{nodes_layout()}; }, pages};
}

} // namespace

void define_cluster(Command root, Context& context) {
    const auto cluster = root.sub("cluster", "the cluster as a whole");
    const auto command = cluster.sub("fragmentation", "how much of what is idle can be used by nobody, and why");
    const auto watch = std::make_shared<WatchOptions>();
    const auto nodes = std::make_shared<bool>(false);
    command.flag("--nodes", *nodes, "of each node");
    define_watch(command, *watch);
    command.run([&context, watch, nodes] {
        return list_or_watch(context, *watch, *nodes ? nodes_listing(context) : partitions_listing(context));
    });
}

} // namespace yk::cli
