// SPDX-License-Identifier: Apache-2.0
#include "ykctl/top/cluster_look.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/commands/show.h"
#include "ykctl/render/cell.h"

namespace yk::cli {
namespace {

using wire::Value;
using Items = std::vector<Value>;

constexpr const char* kMetrics = "yunikorn_scheduler_"; // with which the next two begin
constexpr const char* kPlaced = "yunikorn_scheduler_container_allocation_attempt_total";
constexpr const char* kUnusable = "yunikorn_scheduler_fragmentation_ratio";

bool is_within(const std::string& path, const std::string& queue) {
    return queue.empty() || path == queue || path.starts_with(queue + ".");
}

std::optional<Failure> read_queues(Context& context, const Place& place, Items& into) {
    return list_queues(context, [&](const Items& queues) {
        for (const Value& queue : queues)
            if (is_within(text_of(queue, "queuename"), place.queue)) into.push_back(queue);
    });
}

std::optional<Failure> read_nodes(Context& context, Items& into) {
    const auto take = [&into](const Value& page) -> std::optional<Failure> {
        for (const Value& partition : page)
            for (const Value& node : member_of(partition, "nodesInfo")) into.push_back(node);
        return std::nullopt;
    };
    return context.dump_pages("nodes", {.brief = true}, take);
}

std::optional<Failure> read_applications(Context& context, const Place& place, Items& into) {
    const auto take = [&](const Value& page) -> std::optional<Failure> {
        for (const Value& application : page)
            if (is_within(text_of(application, "queueName"), place.queue)) into.push_back(application);
        return std::nullopt;
    };
    return context.dump_pages("apps", {.brief = true, .state = "active"}, take);
}

/// The asks that wait, by why and where: {reason, queue, asks, oldest, example}. Reads one page of them.
std::optional<Failure> read_waiting(Context& context, ClusterLook& look) {
    si::DumpRequest query{.what = "asks", .limit = 4000};
    if (context.settings().partition) query.partition = *context.settings().partition;
    if (context.settings().rm) query.rm_id = *context.settings().rm;
    const auto page = context.call(query);
    if (!page.ok()) return page.error();
    look.is_part = !text_of(*page, "cursor").empty();
    std::map<std::pair<std::string, std::string>, Value> groups;
    for (const Value& ask : member_of(*page, "data")) {
        auto reason = last_reason(ask);
        if (reason.empty()) reason = "not looked at yet";
        const auto queue = text_of(ask, "queueName");
        Value& group = groups[{reason, queue}];
        const auto since = number_of(ask, "requestTime");
        if (group.is_null())
            group = {{"reason", reason},
                     {"queue", queue},
                     {"asks", 0},
                     {"oldest", since},
                     {"example", text_of(ask, "allocationKey")}};
        group["asks"] = number_of(group, "asks") + 1;
        group["oldest"] = std::min(number_of(group, "oldest"), since);
    }
    for (auto& [key, group] : groups) look.items.push_back(std::move(group));
    return std::nullopt;
}

/// The values of a metric on its lines that have the label.
std::vector<double> values_in(const std::string& metrics, const std::string& name, const std::string& label) {
    std::vector<double> values;
    for (std::size_t at = 0; at < metrics.size();) {
        const auto end = std::min(metrics.find('\n', at), metrics.size());
        const auto line = metrics.substr(at, end - at);
        if (line.starts_with(name) && line.find(label) != std::string::npos)
            values.push_back(std::strtod(line.c_str() + line.rfind(' '), nullptr));
        at = end + 1;
    }
    return values;
}

std::optional<Failure> read_list(Context& context, const Place& place, ClusterLook& look) {
    switch (place.pane) {
    case Pane::Queues: return read_queues(context, place, look.items);
    case Pane::Nodes: return read_nodes(context, look.items);
    case Pane::Applications: return read_applications(context, place, look.items);
    case Pane::Waiting: break;
    }
    return read_waiting(context, look);
}

} // namespace

std::optional<Failure> ClusterLooks::read_metrics(Context& context, ClusterLook& look) {
    auto reply = context.call(si::MetricsRequest{.format = "text", .prefix = kMetrics});
    if (!reply.ok()) return std::move(reply).error();
    const std::string metrics = text_of(*reply, "text");
    const auto now = std::chrono::steady_clock::now();
    const auto counts = values_in(metrics, kPlaced, "state=\"allocated\"");
    const double placed = std::accumulate(counts.begin(), counts.end(), 0.0);
    const double seconds = std::chrono::duration<double>(now - when_).count();
    if (placed_ && seconds > 0 && placed >= *placed_) look.placed_a_second = (placed - *placed_) / seconds;
    placed_ = placed;
    when_ = now;
    for (const double each : values_in(metrics, kUnusable, ""))
        look.unusable = std::max(look.unusable.value_or(0), each);
    return std::nullopt;
}

Answer<ClusterLook> ClusterLooks::look(Context& context, const Place& place) {
    ClusterLook look;
    YK_TRY(status, context.call(si::StatusRequest{}));
    look.status = std::move(status);
    YK_TRY(now, daemon_now(context));
    look.now = now;
    if (auto failure = read_metrics(context, look)) return *std::move(failure);
    if (place.object.empty()) {
        if (auto failure = read_list(context, place, look)) return *std::move(failure);
        return look;
    }
    YK_TRY(shown, place.pane == Pane::Nodes ? look_at_node(context, place.object)
                                            : look_at_application(context, place.object));
    look.object = without_colours(shown.text); // the terminal of ncurses would show their codes
    return look;
}

} // namespace yk::cli
