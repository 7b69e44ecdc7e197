// SPDX-License-Identifier: Apache-2.0
#pragma once
// VictimMarks: allocations that are being preempted, from the decision until they are released, and the asks that wait
// for that (P-072 to P-081, P-098).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/task_groups.h"
#include "libcore/changes/unconfirmed_releases.h"
#include "libcore/planning/preemption_checks.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class VictimMarks {
public:
    VictimMarks(PartitionState& state, SchedulingIndexes& indexes, PreemptionChecks& checks, TaskGroups& task_groups,
                UnconfirmedReleases& unconfirmed_releases)
        : state_(state),
          indexes_(indexes),
          checks_(checks),
          task_groups_(task_groups),
          unconfirmed_releases_(unconfirmed_releases) {}
    VictimMarks(const VictimMarks&) = delete;
    VictimMarks& operator=(const VictimMarks&) = delete;

    /// Marks the allocation as being preempted, for `ask`, or for a quota if that is none. `message`: for the events.
    /// REQUIRES: it is neither released nor preempted already.
    void mark(AllocationId victim, AllocationId ask, std::string_view message, Instant now) noexcept;
    /// Adds `count` to the victims that asks of the leaf had in this minute, for the storm guard. A minute begins with
    /// the first victim.
    void count_victims(Queue& leaf, std::size_t count, Instant now) noexcept;
    /// Asks the RM to release them, in one message (P-131).
    void announce(const std::vector<AllocationId>& victims, std::string_view message, Instant now) noexcept;
    /// Called when the victim is removed, for whatever reason (P-075).
    void forget(AllocationId victim, Instant now) noexcept;
    /// Lets the ask wait for these victims; its size counts as promised in its queues until end_trigger().
    void begin_trigger(AllocationId ask, const std::vector<AllocationId>& victims) noexcept;
    /// The ask is placed, or has lost its reservation: victims that are still leaving belong to no ask (P-079). `used`:
    /// it is placed on the node that the victims were on. REQUIRES: begin_trigger().
    void end_trigger(AllocationId ask, bool used, Instant now) noexcept;
    /// Adds the ask's size to what is promised in its queues, or subtracts it.
    void change_promised(const Allocation& ask, bool promised) noexcept;
    /// The timer: all victims are released and the ask still waits, so it may preempt again (P-079).
    void unplaced_timer(AllocationId ask, Instant now) noexcept;

private:
    PartitionState& state_;
    SchedulingIndexes& indexes_;
    PreemptionChecks& checks_;
    TaskGroups& task_groups_;
    UnconfirmedReleases& unconfirmed_releases_;
};

} // namespace yk
