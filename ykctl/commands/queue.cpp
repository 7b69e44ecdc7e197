// queue list, tree, show. Queues are made, changed and stopped through the configuration only.

#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "libcore/base/counted.h"
#include "ykctl/commands/dumps.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/commands/states.h"
#include "ykctl/commands/watch.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

/// A queue and how it hangs in the tree: `├─ ` and the like in front of its name.
struct Row {
    Value queue; // without its children
    std::string branch;
};

void add_rows(const Value& queue, const std::string& branch, const std::string& below, std::vector<Row>& rows) {
    auto self = queue;
    const auto children = member_of(queue, "children");
    self.erase("children");
    rows.push_back({std::move(self), branch});
    for (std::size_t i = 0; i < children.size(); ++i) {
        const bool last = i + 1 == children.size();
        add_rows(children[i], below + (last ? "└─ " : "├─ "), below + (last ? "   " : "│  "), rows);
    }
}

std::vector<Row> rows_of(const std::vector<Value>& trees) {
    std::vector<Row> rows;
    for (const auto& tree : trees) {
        const auto first = rows.size();
        add_rows(tree, "", "", rows);
        for (auto row = first; row < rows.size(); ++row) rows[row].queue["clusterId"] = text_of(tree, "clusterId");
    }
    return rows;
}

std::string last_part(const std::string& path) {
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? path : path.substr(dot + 1);
}

/// Usage against the maximum; without one, against nothing.
std::string usage_of(const Value& queue, const Style& style) {
    return usage_text(dominant_share(member_of(queue, "allocatedResource"), member_of(queue, "maxResource")), style);
}

/// A limit that is not there is unlimited, which is not the same as a dash for nothing.
std::string maximum_of(const Value& queue) {
    const auto& max = member_of(queue, "maxResource");
    return max.empty() ? "unlimited" : resource_text(max);
}

/// Usage against the guarantee: above 1 the queue takes what others were promised first.
std::string share_of(const Value& queue) {
    const auto share = dominant_share(member_of(queue, "allocatedResource"), member_of(queue, "guaranteedResource"));
    return share < 0 ? std::string{} : fmt::format("{:.2f}", share);
}

std::string applications_of(const Value& queue) {
    const auto max = number_of(queue, "maxRunningApps");
    return fmt::format("{}/{}/{}", number_of(queue, "runningApps"), member_of(queue, "allocatingAcceptedApps").size(),
                       max == 0 ? std::string{"-"} : std::to_string(max));
}

/// Unlimited is more than any maximum.
SortKey maximum_key(const Value& queue) {
    const auto& maximum = member_of(queue, "maxResource");
    return maximum.empty() ? SortKey{std::numeric_limits<double>::infinity()} : resource_key(maximum);
}

ListLayout queue_layout(const Style& style) {
    return {{text_column("QUEUE", "queuename"),
             text_column("STATE", "status"),
             {{"TYPE"}, [](const Value& queue) { return flag_of(queue, "isLeaf") ? "leaf" : "parent"; }},
             resource_column("GUARANTEED", "guaranteedResource"),
             ordered({{"MAX"}, maximum_of}, [](const Value& queue) { return maximum_key(queue); }),
             resource_column("USED", "allocatedResource"),
             ordered({{"OF MAX", Align::Right}, [style](const Value& queue) { return usage_of(queue, style); }},
                     [](const Value& queue) {
                         return SortKey{
                             dominant_share(member_of(queue, "allocatedResource"), member_of(queue, "maxResource"))};
                     }),
             resource_column("PENDING", "pendingResource"),
             {{"APPS run/acc/max"}, applications_of},
             text_column("SORT", "sortingPolicy", true),
             resource_column("HEADROOM", "headroom", true),
             {{"MANAGED"}, [](const Value& queue) { return flag_of(queue, "isManaged") ? "yes" : "no"; }, true},
             partition_column(),
             rm_column()},
            [](const Value& queue) { return text_of(queue, "queuename"); },
            "no queues"};
}

Answer<std::vector<Value>> flat_queues(Context& context) {
    YK_TRY(trees, queue_trees(context));
    std::vector<Value> queues;
    for (auto& row : rows_of(trees)) queues.push_back(std::move(row.queue));
    return queues;
}

std::string tree_text(const std::vector<Value>& trees, bool wide, const Style& style, bool headers) {
    std::vector<Heading> headings{{"QUEUE"}, {"GUARANTEED"}, {"MAX"}, {"USED"}, {"OF MAX", Align::Right}, {"PENDING"}};
    if (wide) {
        for (const auto& heading :
             {Heading{"SHARE", Align::Right}, Heading{"APPS run/acc/max"}, Heading{"SORT"}, Heading{"STATE"}}) {
            headings.push_back(heading);
        }
    }
    Table table{headings};
    for (const auto& [queue, branch] : rows_of(trees)) {
        std::vector<std::string> cells{branch + printable(last_part(text_of(queue, "queuename"))),
                                       resource_text(member_of(queue, "guaranteedResource")),
                                       maximum_of(queue),
                                       resource_text(member_of(queue, "allocatedResource")),
                                       usage_of(queue, style),
                                       resource_text(member_of(queue, "pendingResource"))};
        if (wide) {
            cells.push_back(share_of(queue));
            cells.push_back(applications_of(queue));
            cells.push_back(text_of(queue, "sortingPolicy"));
            cells.push_back(text_of(queue, "status"));
        }
        table.add(std::move(cells));
    }
    return table.text(style, headers);
}

Outcome show_tree(Context& context) {
    const TableView& view = context.settings().view;
    if (!view.columns.empty() || !view.sort_by.empty())
        return usage_error("queue tree: --columns and --sort-by are for lists", {"ykctl queue list"});
    YK_TRY(trees, queue_trees(context));
    if (context.machine_readable()) return context.show_list(trees, queue_layout(context.style()));
    if (context.format() == Format::Name) {
        YK_TRY(queues, flat_queues(context));
        return context.show_list(queues, queue_layout(context.style()));
    }
    bool first = true;
    for (const auto& tree : trees) {
        if (trees.size() > 1)
            context.out() << (first ? "" : "\n") << "partition " << text_of(tree, "partition") << " of RM "
                          << text_of(tree, "clusterId") << "\n";
        context.out() << tree_text({tree}, context.format() == Format::Wide, context.style(), view.headers);
        first = false;
    }
    if (trees.empty()) context.out() << "no queues\n";
    return Exit::Ok;
}

void add_preemption(const Value& queue, std::vector<std::pair<std::string, std::string>>& fields) {
    std::string policy = flag_of(queue, "preemptionEnabled") ? "on, after " + text_of(queue, "preemptionDelay") : "off";
    if (flag_of(queue, "isPreemptionFence")) policy += ", fence";
    fields.emplace_back("preemption", policy);
    if (const auto& leaving = member_of(queue, "preemptingResource"); !leaving.empty())
        fields.emplace_back("being preempted", resource_text(leaving));
    const auto& run = member_of(queue, "lastQuotaPreemption");
    if (!run.is_object()) return;
    fields.emplace_back("last quota run",
                        fmt::format("{}: to free {}, claimed {}, {} of {}", time_text(number_of(run, "time")),
                                    resource_text(member_of(run, "target")), resource_text(member_of(run, "claimed")),
                                    counted(number_of(run, "victims"), "victim"),
                                    counted(number_of(run, "candidates"), "candidate")));
}

std::string queue_text(const Value& queue, const Style& style) {
    std::vector<std::pair<std::string, std::string>> fields{
        {"queue", printable(text_of(queue, "queuename"))},
        {"partition", printable(text_of(queue, "partition"))},
        {"state", text_of(queue, "status")},
        {"type", std::string{flag_of(queue, "isLeaf") ? "leaf" : "parent"} +
                     (flag_of(queue, "isManaged") ? ", from the configuration" : ", made by a placement rule")},
        {"guaranteed", resource_text(member_of(queue, "guaranteedResource"))},
        {"max", maximum_of(queue)},
        {"used", resource_text(member_of(queue, "allocatedResource")) + "  " + usage_of(queue, style)},
        {"pending", resource_text(member_of(queue, "pendingResource"))},
        {"headroom", queue.contains("headroom") ? resource_text(member_of(queue, "headroom")) : "unlimited"},
        {"applications", applications_of(queue) + " (running/accepted/max)"},
        {"sort", text_of(queue, "sortingPolicy")}};
    add_preemption(queue, fields);
    if (const auto& made = member_of(queue, "template"); made.is_object())
        fields.emplace_back(
            "child template",
            fmt::format("of {}: guaranteed {}, max {}, max applications {}{}{}", printable(text_of(made, "owner")),
                        resource_text(member_of(made, "guaranteedResource")),
                        resource_text(member_of(made, "maxResource")), number_of(made, "maxApplications"),
                        flag_of(made, "applyToExisting") ? ", applied to existing queues" : "",
                        flag_of(made, "inheritProperties") ? ", properties inherited" : ""));
    for (const auto& [key, value] : member_of(queue, "properties").items()) {
        fields.emplace_back("property " + printable(key), value.is_string() ? printable(value.get<std::string>()) : "");
    }
    for (const auto& child : member_of(queue, "childNames")) {
        fields.emplace_back("child", child.is_string() ? printable(child.get<std::string>()) : "");
    }
    return fields_text(fields, style);
}

void define_list(Command command, Context& context) {
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch);
    command.run([&context, watch] {
        return list_or_watch(context, *watch,
                             {[&context] { return flat_queues(context); },
                              [&context] { return Answer<ListLayout>{queue_layout(context.style())}; }});
    });
}

} // namespace

void define_queue(Command root, Context& context) {
    const auto queue = root.sub("queue", "queues: limits, usage, what waits (change them in the configuration)");
    define_list(queue.sub("list", "all queues, one line each").alias("ls"), context);
    queue.sub("tree", "queues as a tree with their usage; more with -o wide").run([&context] {
        return show_tree(context);
    });
    const auto show = queue.sub("show", "one queue with its properties");
    const auto path = std::make_shared<std::string>();
    show.option("PATH", *path, "full path, such as root.a.b").required();
    show.run([&context, path]() -> Outcome {
        YK_TRY(found, find_queue(context, *path));
        return context.show_item(found, *path, queue_text(found, context.style()));
    });
    define_list(root.sub("queues", "queue list").hidden(), context);
}

} // namespace yk::cli
