// SPDX-License-Identifier: Apache-2.0
#include "libcore/reports/metrics.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

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

void count_ended(const PartitionState& state, PartitionMetrics& into) {
    into.ended = state.ended.counts();
    std::unordered_map<std::string_view, QueueMetrics*> by_path;
    for (QueueMetrics& queue : into.queues) by_path.emplace(queue.path, &queue);
    const auto count = [&](const EndedApplication& ended) {
        ++into.states[index_of(ended.state)];
        const auto queue = by_path.find(ended.view.queue);
        if (queue != by_path.end())
            ++queue->second->states[index_of(ended.state)];
        else if (ended.state == ApplicationState::Rejected)
            ++into.rejected_by_none;
    };
    for (const EndedApplication& ended : state.ended.completed()) count(ended);
    for (const auto& [serial, ended] : state.ended.rejected()) count(ended);
}

void count_nodes(const PartitionState& state, PartitionMetrics& into) {
    state.nodes.for_each([&](NodeId id) {
        const Node& node = state.nodes[id];
        ++(node.schedulable ? into.nodes_open : into.nodes_draining);
        node.capacity.for_each([&](ResourceId type, std::int64_t capacity) {
            ++into.node_usage[state.resources.name(type)][band_of(node.allocated.get(type), capacity)];
        });
    });
}

} // namespace

void metrics_page(const PartitionState& state, ViewCursor& cursor, std::size_t& budget, PartitionMetrics& into) {
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
    const bool complete = walk.run(state.queues.root(), cursor.after);
    // with every page, since the partition may be removed before the next
    while (into.resource_names.size() < state.resources.size())
        into.resource_names.push_back(state.resources.name(static_cast<ResourceId>(into.resource_names.size())));
    if (!complete || cursor.named) return;
    cursor.named = true;
    into.allocations = state.allocation_count;
    count_ended(state, into);
    count_nodes(state, into);
}

PartitionMetrics partition_metrics(const PartitionState& state) {
    ViewCursor cursor;
    std::size_t budget = std::numeric_limits<std::size_t>::max();
    PartitionMetrics metrics;
    metrics_page(state, cursor, budget, metrics);
    return metrics;
}

} // namespace yk
