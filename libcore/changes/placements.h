// SPDX-License-Identifier: Apache-2.0
#pragma once
// Placements: places asks, resizes and removes allocations, and keeps every total in step with that (S-180, S-330,
// S-472).
//
// Owner: PartitionContext. Thread: the partition's owner. Cost of each call: the depth of the leaf.

#include <span>

#include "libcore/changes/application_states.h"
#include "libcore/changes/pending_asks.h"
#include "libcore/changes/quota_preemption.h"
#include "libcore/changes/reservations.h"
#include "libcore/changes/task_groups.h"
#include "libcore/changes/user_limits.h"
#include "libcore/changes/victim_marks.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Placements {
public:
    Placements(PartitionState& state, SchedulingIndexes& indexes, TaskGroups& task_groups, UserLimits& user_limits,
               VictimMarks& victim_marks, Reservations& reservations, PendingAsks& pending_asks,
               QuotaPreemption& quota_preemption, ApplicationStates& application_states)
        : state_(state),
          indexes_(indexes),
          task_groups_(task_groups),
          user_limits_(user_limits),
          victim_marks_(victim_marks),
          reservations_(reservations),
          pending_asks_(pending_asks),
          quota_preemption_(quota_preemption),
          application_states_(application_states) {}
    Placements(const Placements&) = delete;
    Placements& operator=(const Placements&) = delete;

    /// Gives a placed allocation the size and the devices of the request, without callback, event or test (S-456,
    /// S-457).
    void resize(AllocationId id, const AskSpec& spec, Instant now) noexcept;
    /// Removes a placed allocation from application, node and queues, and destroys it (S-472).
    void remove(AllocationId id, EventDetail detail, Instant now) noexcept;
    /// Reserves memory for place(), which then appends without requesting any.
    void reserve_capacity(AllocationId ask, NodeId node);
    /// Makes a pending ask an allocation on the node (S-330), on the devices that were `said`. `notify`: notify the RM.
    /// REQUIRES: reserve_capacity() was called for it.
    void place(AllocationId id, NodeId node, bool notify, Instant now, std::span<const DeviceUse> said = {}) noexcept;
    // --- the steps of place(), for allocations that are not made from a pending ask ----------------------------------
    /// Adds it to the node, on the devices that the RM `said`, else on those that are chosen for it.
    void put_on_node(AllocationId id, NodeId node, Instant now, std::span<const DeviceUse> said = {}) noexcept;
    /// Adds it to its application and the usage of its users; may change the application's state.
    void put_in_application(AllocationId id, Instant now) noexcept;
    /// Adds the amount to what is allocated in the leaf and above it.
    void grow_queues(Queue& leaf, const Resource& amount) noexcept;
    /// The opposite of put_on_node().
    void take_from_node(AllocationId id, Instant now) noexcept;
    /// Notifies the RM that it is placed.
    void notify_new(AllocationId id) noexcept;

private:
    void move_to_devices(AllocationId id, const AskSpec& spec) noexcept;
    void shrink_queues(Queue& leaf, const Resource& amount) noexcept;
    void take_from_application(AllocationId id, EventDetail detail, Instant now) noexcept;
    void note_seconds(const Allocation& allocation, Instant now) noexcept;

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    TaskGroups& task_groups_;
    UserLimits& user_limits_;
    VictimMarks& victim_marks_;
    Reservations& reservations_;
    PendingAsks& pending_asks_;
    QuotaPreemption& quota_preemption_;
    ApplicationStates& application_states_;
};

} // namespace yk
