// SPDX-License-Identifier: Apache-2.0
#pragma once
// ParkedAsks: asks that wait for an answer of their RM: taken out of the order when the call is made, and put back
// (I-377 to I-379; docs/adr/0014).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/reservation_delays.h"
#include "libcore/planning/preemption_checks.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class ParkedAsks {
public:
    ParkedAsks(PartitionState& state, SchedulingIndexes& indexes, PreemptionChecks& checks,
               ReservationDelays& reservation_delays)
        : state_(state), indexes_(indexes), checks_(checks), reservation_delays_(reservation_delays) {}
    ParkedAsks(const ParkedAsks&) = delete;
    ParkedAsks& operator=(const ParkedAsks&) = delete;

    /// Counts the bytes of the inquiry against the budget. If they exceed it, reasons kept for people are dropped.
    void charge(Inquiry& inquiry) noexcept;
    /// Drops the reasons of all inquiries, so that the budget suffices for names of live objects. False: nothing was
    /// freed, or too little could be to look at all of them. Cost: all inquiries.
    bool forget_reasons() noexcept;
    /// The RM has answered. An ask with a reservation or of a gang is tried again by the steps for these; any other one
    /// comes first in its application in the regular step (I-377).
    void reenter(AllocationId ask, Instant now) noexcept;
    /// Lists the ask among those whose RM has answered, which are tried before the others of their application.
    void list_answered(AllocationId ask) noexcept;
    /// Takes the ask out of its order until its RM has answered.
    void park(AllocationId ask, Instant now) noexcept;
    /// Puts it back where it was.
    void unpark(AllocationId ask, Instant now) noexcept;
    /// After either: brings the group's order, reservation delay and preemption check up to date.
    void parking_changed(AllocationId ask, Instant now) noexcept;
    /// Parks the ask for a while before its RM is asked again. `refused`: the RM refused every node; the ask may
    /// preempt meanwhile (P-141).
    void rest(AllocationId ask, bool refused, Instant now) noexcept;
    /// Begins a new round: the RM may be asked about all nodes again.
    void begin_round(AllocationId ask, Instant now) noexcept;
    /// At the beginning of a cycle: puts back asks that fit on a node that has more available now and was not refused,
    /// and wakes those that waited for a free call.
    void wake(Instant now) noexcept;
    /// Forgets the inquiry: the ask waits no more, or was changed. An answer that is still to come is ignored.
    void forget(AllocationId ask) noexcept;

private:
    PartitionState& state_;
    SchedulingIndexes& indexes_;
    PreemptionChecks& checks_;
    ReservationDelays& reservation_delays_;
};

} // namespace yk
