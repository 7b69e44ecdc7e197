// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queues: makes, changes and removes queues as the configuration says (S-560, C-430 to C-449).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/quota_preemption.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Queues {
public:
    Queues(PartitionState& state, SchedulingIndexes& indexes, QuotaPreemption& quota_preemption)
        : state_(state), indexes_(indexes), quota_preemption_(quota_preemption) {}
    Queues(const Queues&) = delete;
    Queues& operator=(const Queues&) = delete;

    /// Makes a queue, with an event. `managed`: it is in the configuration; else it is made for applications.
    Queue& make(std::string_view name, Queue* parent, bool leaf, bool managed, Instant now);
    /// Emits the new value of a limit; nullptr: there is none any more (S-600).
    void emit_limit(const Queue& queue, EventDetail detail, const Resource* value, Instant now);
    /// The max of the configuration.
    [[nodiscard]] Limit limit(const config::Resources& resources);
    /// The guarantee of the configuration; nullopt: none, or no amount of it is above zero (S-035).
    [[nodiscard]] std::optional<Resource> guarantee(const config::Resources& resources);
    /// Sets both limits. Whether one of them changed. `emit`: emit changes, because the queue existed before.
    bool set_limits(Queue& queue, Limit max, std::optional<Resource> guaranteed, bool emit, Instant now);
    /// Lets the queue and all managed ones below it drain (C-431).
    void drain(Queue& queue) noexcept;
    /// Makes the queue and all below it what the configuration says. `made`: it was made for this configuration.
    /// REQUIRES: its parent has been configured.
    void configure(Queue& queue, const config::Queue& config, bool made, Instant now);
    /// An error if the queue cannot become what the configuration says, because applications are in it or below.
    /// Children that nobody uses are no obstacle: they are removed when their parent becomes a leaf (C-435).
    [[nodiscard]] Result<void> check(const config::Queue& config, const Queue& queue) const;
    /// Removes empty queues that drain or are dynamic, children first (S-560).
    void clean(Instant now);

private:
    void count_queue(const Queue& queue) noexcept;
    void discount_queue(const Queue& queue) noexcept;
    void destroy(Queue& queue, Instant now);
    void set_state(Queue& queue, ObjectEvent event) noexcept;
    bool clean_below(Queue& queue, Instant now);

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    QuotaPreemption& quota_preemption_;
};

} // namespace yk
