// SPDX-License-Identifier: Apache-2.0
#pragma once
// UnconfirmedReleases: releases that the RM was asked for and has not confirmed in time: they are announced once more,
// and an event is emitted (section 5, no. 5 of docs/spec/preemption-gang-priority.md).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include <deque>

#include "libcore/state/partition_state.h"

namespace yk {

class UnconfirmedReleases {
public:
    explicit UnconfirmedReleases(PartitionState& state) : state_(state) {}
    UnconfirmedReleases(const UnconfirmedReleases&) = delete;
    UnconfirmedReleases& operator=(const UnconfirmedReleases&) = delete;

    /// Called when the RM was asked to release the allocation.
    void expect(AllocationId id, TerminationType type, Instant now) noexcept;
    /// The timer: announces once more what was not confirmed in time.
    void announce_again(Instant now) noexcept;

private:
    struct Announced {
        Ref<Allocation> allocation;
        Instant at;
        TerminationType type{};
    };
    /// nullptr: it was confirmed.
    [[nodiscard]] const Allocation* find_unconfirmed(const Announced& announced) const noexcept;

    PartitionState& state_;
    std::deque<Announced> announced_;    // by time; confirmed ones are dropped when there are many
    std::size_t announced_limit_ = 1024; // they are looked for at this size
    bool timer_set_ = false;             // a timer runs for the front
};

} // namespace yk
