// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reservations: makes and drops reservations, always in all five objects that know them: ask, application, node, leaf
// queue and shape (S-404, S-415).
//
// Owner: PartitionContext. Thread: the partition's owner. Cost: the reservations of the same application, node and
// shape.

#include "libcore/changes/reservation_delays.h"
#include "libcore/changes/victim_marks.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Reservations {
public:
    Reservations(PartitionState& state, SchedulingIndexes& indexes, ReservationDelays& reservation_delays,
                 VictimMarks& victim_marks)
        : state_(state), indexes_(indexes), reservation_delays_(reservation_delays), victim_marks_(victim_marks) {}
    Reservations(const Reservations&) = delete;
    Reservations& operator=(const Reservations&) = delete;

    /// Keeps the node for the ask. REQUIRES: the ask has no reservation.
    void make(AllocationId ask, NodeId node, Instant now) noexcept;
    /// Takes an ask with a reservation off the list of its shape, which is about to change; the caller lists it under
    /// the new one.
    void unlist(AllocationId ask) noexcept;
    /// Drops the reservation: the node is free for others again.
    void drop(ReservationId id, Instant now) noexcept;
    /// Drops the reservations on the node whose asks do not require it (S-432, S-415).
    void drop_ordinary(NodeId node, Instant now) noexcept;

private:
    PartitionState& state_;
    SchedulingIndexes& indexes_;
    ReservationDelays& reservation_delays_;
    VictimMarks& victim_marks_;
};

} // namespace yk
