// SPDX-License-Identifier: Apache-2.0
#pragma once
// ReservationDelays: when the first free ask of a group is old enough to reserve a node (S-403). Groups that wait for
// that are in a queue by time; those that come out of order are in a heap.
//
// Owner: PartitionContext. Thread: the partition's owner. Cost of update(): O(1), out of order the logarithm of these.

#include <deque>
#include <optional>

#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"
#include "libcore/state/timers.h"

namespace yk {

class ReservationDelays {
public:
    ReservationDelays(PartitionState& state, SchedulingIndexes& indexes) : state_(state), indexes_(indexes) {}
    ReservationDelays(const ReservationDelays&) = delete;
    ReservationDelays& operator=(const ReservationDelays&) = delete;

    /// Sets on the group whether its first free ask is old enough; if it is not yet, the group is listed.
    void update(GroupId id, Instant now) noexcept;
    /// Updates every group whose time has come. Has no visible effect, so its order among timers does not matter.
    void look_at_all(Instant now) noexcept;
    /// When the next group is to be looked at; nullopt: none is.
    [[nodiscard]] std::optional<Instant> next() const noexcept;
    /// Takes groups that were removed off the list, when they may be many.
    void sweep() noexcept;
    /// How many groups are listed; some of them may have been removed.
    [[nodiscard]] std::size_t size() const noexcept { return due_.size() + late_due_.size(); }

private:
    void look_at(GroupId id, Instant now) noexcept;

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    struct Due {
        Instant at;
        GroupId group{};
    };
    static constexpr std::size_t kLeastDue = 4096;
    std::deque<Due> due_;               // by time
    Timers late_due_;                   // those that came out of order
    std::size_t due_limit_ = kLeastDue; // sweep() looks for removed groups from this size on
};

} // namespace yk
