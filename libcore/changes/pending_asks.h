// SPDX-License-Identifier: Apache-2.0
#pragma once
// PendingAsks: makes, changes and removes asks, and keeps pending ones in groups of equal asks (S-450 to S-453, S-471).
//
// Owner: PartitionContext. Thread: the partition's owner. Cost of each call: the logarithm of the application's groups.

#include "libcore/changes/parked_asks.h"
#include "libcore/changes/reservation_delays.h"
#include "libcore/changes/reservations.h"
#include "libcore/changes/task_groups.h"
#include "libcore/changes/victim_marks.h"
#include "libcore/planning/attempt_log.h"
#include "libcore/planning/preemption_checks.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class PendingAsks {
public:
    PendingAsks(PartitionState& state, SchedulingIndexes& indexes, PreemptionChecks& checks, AttemptLog& attempt_log,
                ReservationDelays& reservation_delays, TaskGroups& task_groups, VictimMarks& victim_marks,
                ParkedAsks& parked_asks, Reservations& reservations)
        : state_(state),
          indexes_(indexes),
          checks_(checks),
          attempt_log_(attempt_log),
          reservation_delays_(reservation_delays),
          task_groups_(task_groups),
          victim_marks_(victim_marks),
          parked_asks_(parked_asks),
          reservations_(reservations) {}
    PendingAsks(const PendingAsks&) = delete;
    PendingAsks& operator=(const PendingAsks&) = delete;

    /// Gives a pending ask what the message says; create time and arrival stay (S-451, I-143).
    void replace(AllocationId id, const AskSpec& spec, Instant now) noexcept;
    /// Gives a pending ask another shape, priority and task group. Takes over the caller's use of the shape.
    void reshape(AllocationId id, ShapeId shape, std::int32_t priority, std::uint32_t task_group, Instant now) noexcept;
    /// Removes a pending ask; the caller handles what follows for the application (S-471).
    void remove(AllocationId id, bool timed_out, Instant now) noexcept;
    /// Emits that the record of an ask or allocation is removed.
    void emit_request_removed(AllocationId id, bool timed_out, Instant now) noexcept;
    /// The shape of the ask, with one more use, which the caller owns. REQUIRES: its resource types have been tested.
    [[nodiscard]] ShapeId shape_of(const AskSpec& spec) noexcept;
    /// Makes a record that is neither pending nor placed yet. Takes over the caller's use of the shape. `application`:
    /// none for a foreign allocation.
    [[nodiscard]] AllocationId make(const AskSpec& spec, ApplicationId application, ShapeId shape,
                                    Instant now) noexcept;
    /// Destroys the record. REQUIRES: it is not pending, and on no list of an application or a node.
    void destroy(AllocationId id) noexcept;
    /// Makes it pending: counts its size and adds it to its group.
    void add(AllocationId id, Instant now) noexcept;
    /// The opposite of add(): it is pending no more.
    void take(AllocationId id, Instant now) noexcept;

private:
    void join_group(AllocationId id, Instant now) noexcept;
    void leave_group(AllocationId id, Instant now) noexcept;

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    PreemptionChecks& checks_;
    AttemptLog& attempt_log_;
    ReservationDelays& reservation_delays_;
    TaskGroups& task_groups_;
    VictimMarks& victim_marks_;
    ParkedAsks& parked_asks_;
    Reservations& reservations_;
};

} // namespace yk
