// SPDX-License-Identifier: Apache-2.0
// The commands partition list, show.

#include <ostream>

#include "ykctl/cli/suggest.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

const Value& capacity_of(const Value& partition) {
    return member_of(member_of(partition, "capacity"), "capacity");
}

const Value& used_of(const Value& partition) {
    return member_of(member_of(partition, "capacity"), "usedCapacity");
}

/// The number of live applications: the dump counts completed, failed and rejected ones as well.
std::int64_t live_applications(const Value& partition) {
    std::int64_t live = 0;
    for (const auto& [state, count] : member_of(partition, "applications").items())
        for (const char* each : {"New", "Accepted", "Running", "Resuming", "Completing", "Failing"})
            if (state == each && count.is_number()) live += count.get<std::int64_t>();
    return live;
}

ListLayout partition_layout(const Style& style) {
    return {
        {text_column("NAME", "name"),
         text_column("RM", "clusterId"),
         text_column("STATE", "state"),
         number_column("NODES", "totalNodes"),
         {{"APPS", Align::Right}, [](const Value& item) { return std::to_string(live_applications(item)); }},
         number_column("ALLOCS", "totalContainers"),
         ordered({{"CAPACITY"}, [](const Value& item) { return resource_text(capacity_of(item)); }},
                 [](const Value& item) { return resource_key(capacity_of(item)); }),
         ordered({{"ALLOCATED"}, [](const Value& item) { return resource_text(used_of(item)); }},
                 [](const Value& item) { return resource_key(used_of(item)); }),
         ordered({{"USED", Align::Right},
                  [style](const Value& item) {
                      return usage_text(dominant_share(used_of(item), capacity_of(item)), style);
                  }},
                 [](const Value& item) { return SortKey{dominant_share(used_of(item), capacity_of(item))}; }),
         {{"NODE SORT"}, [](const Value& item) { return text_of(member_of(item, "nodeSortingPolicy"), "type"); }, true},
         number_column("RESERVATIONS", "reservations", true)},
        [](const Value& item) { return text_of(item, "name"); },
        "no partitions"};
}

Answer<Shown> look_at_partition(Context& context, const std::string& name) {
    YK_TRY(partitions, all_partitions(context));
    std::vector<Value> found;
    std::vector<std::string> names;
    for (auto& partition : partitions) {
        names.push_back(text_of(partition, "name"));
        const auto full = "[" + text_of(partition, "clusterId") + "]" + names.back();
        if (name == names.back() || name == full) found.push_back(std::move(partition));
    }
    if (found.empty()) {
        return not_found("partition '" + name + "' not found" + did_you_mean(name, names),
                         {"which are there?  ykctl partition list"});
    }
    if (found.size() > 1) {
        return usage_error("several RMs have a partition '" + name + "'", {"which one?  -r RMID, or [RMID]" + name});
    }
    const auto& partition = found.front();
    std::vector<std::pair<std::string, std::string>> fields;
    for (const auto& column : partition_layout(context.style()).columns) {
        fields.emplace_back(column.heading.text, column.cell(partition));
    }
    for (auto& [field, value] : fields) {
        for (auto& c : field) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    fields.front().first = "partition";
    for (const auto& [state, count] : member_of(partition, "applications").items()) {
        if (state != "total") fields.emplace_back("apps " + state, count.dump());
    }
    return Shown{partition, name, fields_text(fields, context.style())};
}

void define_list(Command command, Context& context) {
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch, FilterKind{"partition"});
    command.run([&context, watch] {
        return list_or_watch(context, *watch,
                             {[&context] { return all_partitions(context); },
                              [&context] { return Answer<ListLayout>{partition_layout(context.style())}; }});
    });
}

} // namespace

void define_partition(Command root, Context& context) {
    const auto partition = root.sub("partition", "partitions: capacity and what they hold");
    define_list(partition.sub("list", "all partitions").alias("ls"), context);
    const auto show = partition.sub("show", "one partition");
    const auto name = std::make_shared<std::string>("default");
    show.option("NAME", *name, "short or full name, default: default");
    define_show_and_watch(show, context, [&context, name] { return look_at_partition(context, *name); });
    define_list(root.sub("partitions", "partition list").hidden(), context);
}

} // namespace yk::cli
