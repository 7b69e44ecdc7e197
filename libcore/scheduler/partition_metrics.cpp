// The numbers behind the metrics of a partition (I-516: computed from the objects when read).

#include <algorithm>
#include <unordered_map>

#include "libcore/scheduler/partition_context.h"

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

/// Queue by queue, with the position of each by its path.
class QueueList {
public:
    QueueList(const PartitionState& state, PartitionMetrics& metrics) : metrics_(metrics) {
        by_index_.resize(state.queues.size(), nullptr);
        const auto live = static_cast<std::size_t>(std::count_if(state.queues.begin(), state.queues.end(),
                                                                 [](const Queue* queue) { return queue != nullptr; }));
        metrics.queues.reserve(live); // the addresses are kept
        add(*state.root);
    }
    [[nodiscard]] QueueMetrics& of(const Queue& queue) { return *by_index_[queue.index]; }

private:
    void add(const Queue& queue) {
        metrics_.queues.push_back(metrics_of(queue));
        by_index_[queue.index] = &metrics_.queues.back();
        for (const auto& [name, child] : queue.children) add(*child);
    }

    PartitionMetrics& metrics_;
    std::vector<QueueMetrics*> by_index_;
};

} // namespace

PartitionMetrics PartitionContext::metrics() const {
    PartitionMetrics metrics;
    for (ResourceId id = 0; id < s_.resources.size(); ++id) metrics.resource_names.push_back(s_.resources.name(id));
    metrics.ended = s_.ended_counts;
    metrics.allocations = s_.allocation_count;
    QueueList queues(s_, metrics);
    s_.applications.for_each([&](ApplicationId id) {
        const Application& application = s_.applications[id];
        ++metrics.states[index_of(application.state)];
        ++queues.of(*application.queue).states[index_of(application.state)];
    });
    const auto count_ended = [&](const EndedApplication& ended) {
        ++metrics.states[index_of(ended.state)];
        const Queue* queue = s_.find_queue(ended.view.queue);
        if (queue != nullptr)
            ++queues.of(*queue).states[index_of(ended.state)];
        else if (ended.state == ApplicationState::Rejected)
            ++metrics.rejected_by_none;
    };
    for (const EndedApplication& ended : s_.ended) count_ended(ended);
    for (const auto& [serial, ended] : s_.rejected) count_ended(ended);
    s_.nodes.for_each([&](NodeId id) {
        const Node& node = s_.nodes[id];
        ++(node.schedulable ? metrics.nodes_open : metrics.nodes_draining);
        node.capacity.for_each([&](ResourceId type, std::int64_t capacity) {
            ++metrics.node_usage[s_.resources.name(type)][band_of(node.allocated.get(type), capacity)];
        });
    });
    return metrics;
}

} // namespace yk
