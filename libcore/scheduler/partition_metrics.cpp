// The numbers behind the metrics of a partition (I-516: computed from the objects when read).

#include <algorithm>
#include <unordered_map>

#include "libcore/scheduler/partition_context.h"
#include "libcore/scheduler/queue_walk.h"

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

/// `(0,10%]` is 0; nothing used counts there, over-allocated nodes in the last band.
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

} // namespace

void PartitionContext::metrics_piece(ViewPlace& place, std::size_t& room, PartitionMetrics& into) const {
    into.queues.reserve(s_.queues.size()); // growing piece by piece would take twice the memory
    QueueWalk walk{[&](const Queue& queue) {
        if (room == 0) return false;
        QueueMetrics& metrics = into.queues.emplace_back(metrics_of(queue));
        for (const ApplicationId id : queue.applications) ++metrics.states[index_of(s_.applications[id].state)];
        add(into.states, metrics.states);
        place.after = queue.path;
        room -= std::min(room, 1 + queue.applications.size());
        return true;
    }};
    const bool complete = walk.run(*s_.root, place.after);
    while (into.resource_names.size() < s_.resources.size()) // with every piece: the partition may go before the next
        into.resource_names.push_back(s_.resources.name(static_cast<ResourceId>(into.resource_names.size())));
    if (!complete || place.named) return;
    place.named = true;
    into.allocations = s_.allocation_count;
    count_ended(into);
    count_nodes(into);
}

void PartitionContext::count_ended(PartitionMetrics& into) const {
    into.ended = s_.ended_counts;
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
    for (const EndedApplication& ended : s_.ended) count(ended);
    for (const auto& [serial, ended] : s_.rejected) count(ended);
}

void PartitionContext::count_nodes(PartitionMetrics& into) const {
    s_.nodes.for_each([&](NodeId id) {
        const Node& node = s_.nodes[id];
        ++(node.schedulable ? into.nodes_open : into.nodes_draining);
        node.capacity.for_each([&](ResourceId type, std::int64_t capacity) {
            ++into.node_usage[s_.resources.name(type)][band_of(node.allocated.get(type), capacity)];
        });
    });
}

} // namespace yk
