// SPDX-License-Identifier: Apache-2.0
#include "libcore/reports/metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "libcore/planning/queue_walk.h"

namespace yk {

namespace {

constexpr std::size_t kStates = QueueMetrics::kStates;

static_assert(static_cast<std::size_t>(ApplicationState::Expired) + 1 == kStates);

std::size_t index_of(ApplicationState state) {
    return static_cast<std::size_t>(state);
}

MetricAmounts amounts_of(const Resource& resource) {
    MetricAmounts amounts;
    resource.for_each([&](ResourceId id, std::int64_t value) { amounts.emplace_back(id, value); });
    return amounts;
}

QueueMetrics metrics_of(const Queue& queue) {
    QueueMetrics metrics;
    metrics.path = queue.path;
    metrics.leaf = queue.leaf;
    metrics.managed = queue.managed;
    metrics.allocated = amounts_of(queue.allocated);
    metrics.pending = amounts_of(queue.pending);
    metrics.preempting = amounts_of(queue.preempting);
    if (queue.guaranteed) metrics.guaranteed = amounts_of(*queue.guaranteed);
    if (!queue.max.unlimited()) metrics.max = amounts_of(queue.max.bounds());
    metrics.max_applications = queue.max_applications;
    metrics.running = queue.running;
    metrics.applications = queue.applications.size();
    metrics.placed = queue.placed_count;
    metrics.released = queue.released_count;
    return metrics;
}

/// The band of ten percent: 0 for up to 10%, nothing included; the last one for more than 100% as well.
std::size_t band_of(std::int64_t used, std::int64_t capacity) {
    constexpr auto kLast = static_cast<double>(PartitionMetrics::kBands - 1);
    if (used <= 0) return 0;
    if (capacity <= 0) return PartitionMetrics::kBands - 1;
    const double share = static_cast<double>(used) / static_cast<double>(capacity);
    for (std::size_t band = 0; band + 1 < PartitionMetrics::kBands; ++band)
        if (share <= (static_cast<double>(band) + 1) / (kLast + 1)) return band;
    return PartitionMetrics::kBands - 1;
}

void add(std::array<std::uint64_t, kStates>& to, const std::array<std::uint64_t, kStates>& from) {
    for (std::size_t state = 0; state < kStates; ++state) to[state] += from[state];
}

// The stages of a page. Each adds what there is from the cursor on; false: the budget is used up before the end.

bool add_queues(const PartitionState& state, ViewCursor& cursor, std::size_t& budget, PartitionMetrics& into) {
    into.queues.reserve(state.queues.size()); // growing page by page would take twice the memory
    QueueWalk walk{[&](const Queue& queue) {
        if (budget == 0) return false;
        QueueMetrics& metrics = into.queues.emplace_back(metrics_of(queue));
        for (const ApplicationId id : queue.applications) ++metrics.states[index_of(state.applications[id].state)];
        add(into.states, metrics.states);
        cursor.after = queue.path;
        budget -= std::min(budget, 1 + queue.applications.size());
        return true;
    }};
    return walk.run(state.queues.root(), cursor.after);
}

bool add_nodes(const PartitionState& state, ViewCursor& cursor, std::size_t& budget, PartitionMetrics& into) {
    bool is_whole = true;
    std::string_view last;
    state.nodes.until_after(cursor.after, [&](NodeId id) {
        is_whole = budget != 0;
        if (!is_whole) return true;
        --budget;
        const Node& node = state.nodes[id];
        last = node.id;
        ++(node.schedulable ? into.nodes_open : into.nodes_draining);
        node.capacity.for_each([&](ResourceId type, std::int64_t capacity) {
            ++into.node_usage[type][band_of(node.allocated.get(type), capacity)];
        });
        return false;
    });
    if (!last.empty()) cursor.after = last;
    return is_whole;
}

bool add_ended_counts(const PartitionState& state, ViewCursor& cursor, std::size_t& budget, PartitionMetrics& into) {
    const auto& counts = state.ended.counts(); // the first may be of no queue, whose path is empty
    for (auto each = cursor.next == 0 ? counts.begin() : counts.upper_bound(cursor.after); each != counts.end();
         ++each) {
        if (budget == 0) return false;
        --budget;
        into.ended.insert_or_assign(into.ended.end(), each->first, each->second);
        cursor.after = each->first;
        cursor.next = 1;
    }
    return true;
}

/// Both lists of them by their serials, from the cursor's on.
bool add_kept(const PartitionState& state, ViewCursor& cursor, std::size_t& budget, PartitionMetrics& into) {
    const auto is_before = [](const EndedApplication& ended, std::uint64_t serial) { return ended.serial < serial; };
    const auto& all = state.ended.completed();
    auto completed = std::lower_bound(all.begin(), all.end(), cursor.next, is_before);
    auto rejected = state.ended.rejected().lower_bound(cursor.next);
    while (completed != all.end() || rejected != state.ended.rejected().end()) {
        if (budget == 0) return false;
        --budget;
        const bool is_rejected =
            completed == all.end() || (rejected != state.ended.rejected().end() && rejected->first < completed->serial);
        const EndedApplication& ended = is_rejected ? (rejected++)->second : *completed++;
        ++into.states[index_of(ended.state)];
        ++into.kept[ended.view.queue][index_of(ended.state)];
        cursor.next = ended.serial + 1;
    }
    return true;
}

} // namespace

void metrics_page(const PartitionState& state, ViewCursor& cursor, std::size_t& budget, PartitionMetrics& into) {
    constexpr std::array kSteps{add_queues, add_nodes, add_ended_counts, add_kept};
    while (into.resource_names.size() < state.resources.size())
        into.resource_names.push_back(state.resources.name(static_cast<ResourceId>(into.resource_names.size())));
    into.node_usage.resize(into.resource_names.size());
    into.allocations = state.allocation_count;
    if (const ShapeBoards* const boards = state.nodes.boards()) into.fragmentation_ratio = boards->ratio();
    for (; cursor.stage < kSteps.size(); ++cursor.stage) {
        if (!kSteps.at(cursor.stage)(state, cursor, budget, into)) return;
        cursor.after.clear();
        cursor.next = 0;
    }
}

void join_kept(PartitionMetrics& metrics) {
    for (QueueMetrics& queue : metrics.queues)
        if (const auto kept = metrics.kept.find(queue.path); kept != metrics.kept.end()) {
            add(queue.states, kept->second);
            metrics.kept.erase(kept);
        }
    for (const auto& [path, states] : metrics.kept)
        metrics.rejected_by_none += states[index_of(ApplicationState::Rejected)];
    metrics.kept.clear();
}

PartitionMetrics partition_metrics(const PartitionState& state) {
    ViewCursor cursor;
    std::size_t budget = std::numeric_limits<std::size_t>::max();
    PartitionMetrics metrics;
    metrics_page(state, cursor, budget, metrics);
    join_kept(metrics);
    return metrics;
}

} // namespace yk
