// SPDX-License-Identifier: Apache-2.0
// The commands queue list, tree, show. Queues are made, changed and stopped through the configuration only.

#include <limits>
#include <ostream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/long_lists.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

/// Draws the tree in front of queues that arrive one by one, each before those below it: `├─ ` and the like.
class Branches {
public:
    explicit Branches(bool is_ascii) : is_ascii_(is_ascii) {}

    std::string next(const Value& queue) {
        const auto parent = text_of(queue, "parent");
        while (!open_.empty() && open_.back().path != parent) open_.pop_back();
        std::string branch, below;
        if (!open_.empty()) {
            Level& level = open_.back();
            const bool last = level.left <= 1;
            const char* const fork = is_ascii_ ? (last ? "`- " : "|- ") : (last ? "└─ " : "├─ ");
            const char* const trunk = is_ascii_ ? "|  " : "│  ";
            branch = level.below + fork;
            below = level.below + (last ? "   " : trunk);
            level.left -= level.left > 0 ? 1 : 0;
        }
        open_.push_back({text_of(queue, "queuename"), below, member_of(queue, "childNames").size()});
        return branch;
    }

private:
    struct Level {
        std::string path, below;
        std::size_t left; // children that have not arrived yet
    };
    bool is_ascii_;
    std::vector<Level> open_; // from the top of the tree down
};

std::string last_part(const std::string& path) {
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? path : path.substr(dot + 1);
}

/// The usage as a share of the maximum; `-` without a maximum.
std::string usage_of(const Value& queue, const Style& style) {
    return usage_text(dominant_share(member_of(queue, "allocatedResource"), member_of(queue, "maxResource")), style);
}

/// The maximum. A queue without one is unlimited, which differs from a dash, which stands for nothing.
std::string maximum_of(const Value& queue) {
    const auto& max = member_of(queue, "maxResource");
    return max.empty() ? "unlimited" : resource_text(max);
}

/// The usage as a share of the guarantee. Above 1 the queue uses resources that others may take back.
std::string share_of(const Value& queue) {
    const auto share = dominant_share(member_of(queue, "allocatedResource"), member_of(queue, "guaranteedResource"));
    return share < 0 ? std::string{} : fmt::format("{:.2f}", share);
}

std::string applications_of(const Value& queue) {
    const auto max = number_of(queue, "maxRunningApps");
    return fmt::format("{}/{}/{}", number_of(queue, "runningApps"), member_of(queue, "allocatingAcceptedApps").size(),
                       max == 0 ? std::string{"-"} : std::to_string(max));
}

/// The key for sorting by maximum: unlimited is more than any.
SortKey maximum_key(const Value& queue) {
    const auto& maximum = member_of(queue, "maxResource");
    return maximum.empty() ? SortKey{std::numeric_limits<double>::infinity()} : resource_key(maximum);
}

ListLayout queue_layout(const Style& style) {
    return {{text_column("NAME", "queuename"),
             text_column("STATE", "status"),
             {{"TYPE"}, [](const Value& queue) { return flag_of(queue, "isLeaf") ? "leaf" : "parent"; }},
             resource_column("GUARANTEED", "guaranteedResource"),
             ordered({{"MAX"}, maximum_of}, [](const Value& queue) { return maximum_key(queue); }),
             resource_column("USED", "allocatedResource"),
             ordered({{"OF MAX", Align::Right, 2}, [style](const Value& queue) { return usage_of(queue, style); }},
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

/// Prints the table of each tree while its queues arrive.
class TreeTables {
public:
    TreeTables(Context& context, std::ostream& out, bool several) : context_(context), out_(out), several_(several) {}

    void add(const std::vector<Value>& queues) {
        for (const Value& queue : queues) {
            if (text_of(queue, "parent").empty() || !table_) begin(queue);
            table_->add(cells(queue));
        }
        flush();
    }
    [[nodiscard]] bool is_empty() const { return trees_ == 0; }

private:
    void begin(const Value& top) {
        flush();
        if (several_)
            out_ << (trees_ == 0 ? "" : "\n") << "partition " << printable(text_of(top, "partition")) << " of RM "
                 << printable(text_of(top, "clusterId")) << "\n";
        ++trees_;
        std::vector<Heading> headings{{"NAME"},
                                      {"GUARANTEED"},
                                      {"MAX"},
                                      {"USED", Align::Left, 1},
                                      {"OF MAX", Align::Right, 2},
                                      {"PENDING", Align::Left, 1}};
        if (wide_)
            for (const auto& heading :
                 {Heading{"SHARE", Align::Right}, Heading{"APPS run/acc/max"}, Heading{"SORT"}, Heading{"STATE"}})
                headings.push_back(heading);
        table_.emplace(std::move(headings));
        branches_ = Branches{context_.style().is_ascii};
        headed_ = false;
    }
    std::vector<std::string> cells(const Value& queue) {
        const auto style = context_.style();
        std::vector<std::string> cells{branches_.next(queue) + printable(last_part(text_of(queue, "queuename"))),
                                       resource_text(member_of(queue, "guaranteedResource")),
                                       maximum_of(queue),
                                       resource_text(member_of(queue, "allocatedResource")),
                                       usage_of(queue, style),
                                       resource_text(member_of(queue, "pendingResource"))};
        if (wide_) {
            cells.push_back(share_of(queue));
            cells.push_back(applications_of(queue));
            cells.push_back(text_of(queue, "sortingPolicy"));
            cells.push_back(text_of(queue, "status"));
        }
        return cells;
    }
    void flush() {
        if (!table_ || table_->empty()) return;
        const bool headers = context_.settings().view.headers;
        out_ << (std::exchange(headed_, true) ? table_->more_text() : table_->text(context_.style(), headers));
        table_->clear();
    }

    Context& context_;
    std::ostream& out_;
    bool several_;
    bool wide_ = context_.format() == Format::Wide;
    std::size_t trees_ = 0;
    std::optional<Table> table_;
    bool headed_ = false;
    Branches branches_{context_.style().is_ascii};
};

std::optional<Failure> write_trees(Context& context, std::ostream& out, bool pretty) {
    JsonStream to{out, pretty};
    to.begin_object();
    to.key("schema");
    to.value(1);
    to.key("items");
    auto failure = write_queue_trees(context, to);
    to.end();
    return failure;
}

Outcome show_trees(Context& context) {
    if (context.format() == Format::Json) {
        if (auto failure = write_trees(context, context.out(), true)) return *failure;
        return Exit::Ok;
    }
    std::ostringstream text;
    if (auto failure = write_trees(context, text, false)) return *failure;
    const Value items = Value::parse(text.str())["items"];
    return context.show_list({items.begin(), items.end()}, queue_layout(context.style()));
}

Outcome list_all(Context& context, WatchOptions& watch) {
    return list_or_watch(context, watch,
                         {{},
                          [&context] { return Answer<ListLayout>{queue_layout(context.style())}; },
                          [&context](const TakeItems& take) { return list_queues(context, take); }});
}

std::optional<Failure> draw_trees(Context& context, std::ostream& out) {
    auto partitions = all_partitions(context);
    if (!partitions.ok()) return std::move(partitions).error();
    TreeTables tables{context, out, partitions->size() > 1};
    const auto take = [&tables](const std::vector<Value>& queues) { tables.add(queues); };
    if (auto failure = list_queues(context, take)) return failure;
    if (tables.is_empty()) out << "no queues\n";
    return std::nullopt;
}

Outcome show_tree(Context& context, WatchOptions& watch) {
    const TableView& view = context.settings().view;
    if (!view.columns.empty() || !view.sort_by.empty())
        return usage_error("queue tree: --columns and --sort-by are for lists", {"ykctl queue list"});
    const bool is_drawn = context.streams().out_is_terminal && !context.machine_readable();
    if (watch.on && is_drawn)
        return show_or_watch(context, watch, [&context]() -> Answer<Shown> {
            std::ostringstream trees;
            if (auto failure = draw_trees(context, trees)) return *std::move(failure);
            return Shown{{}, "queues", trees.str()};
        });
    if (watch.on || context.format() == Format::Name) return list_all(context, watch);
    if (context.machine_readable()) return show_trees(context);
    if (auto failure = draw_trees(context, context.out())) return *failure;
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
                                    pluralize(number_of(run, "victims"), "victim"),
                                    pluralize(number_of(run, "candidates"), "candidate")));
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
    define_watch(command, *watch, FilterKind{"queue", {"Active", "Draining", "Stopped"}, "properties", "properties"});
    command.run([&context, watch] { return list_all(context, *watch); });
}

} // namespace

void define_queue(Command root, Context& context) {
    const auto queue = root.sub("queue", "queues: limits, usage, what waits (change them in the configuration)");
    define_list(queue.sub("list", "all queues, one line each").alias("ls"), context);
    const auto tree = queue.sub("tree", "queues as a tree with their usage; more with -o wide");
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(tree, *watch);
    tree.run([&context, watch] { return show_tree(context, *watch); });
    const auto show = queue.sub("show", "one queue with its properties");
    const auto path = std::make_shared<std::string>();
    show.option("PATH", *path, "full path, such as root.a.b").required();
    define_show_and_watch(show, context, [&context, path]() -> Answer<Shown> {
        YK_TRY(found, find_queue(context, *path));
        return Shown{found, *path, queue_text(found, context.style())};
    });
    define_list(root.sub("queues", "queue list").hidden(), context);
}

} // namespace yk::cli
