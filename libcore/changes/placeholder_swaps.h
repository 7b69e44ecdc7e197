// SPDX-License-Identifier: Apache-2.0
#pragma once
// PlaceholderSwaps: replaces placeholders by real asks: begins a swap, finishes it when the RM has confirmed, and ends
// it in every other way (G-030 to G-044, G-070 to G-075).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/pending_asks.h"
#include "libcore/changes/placements.h"
#include "libcore/changes/reservations.h"
#include "libcore/changes/task_groups.h"
#include "libcore/changes/unconfirmed_releases.h"
#include "libcore/planning/gang_planner.h"
#include "libcore/state/partition_state.h"
#include "libcore/state/victim_index.h"

namespace yk {

class PlaceholderSwaps {
public:
    PlaceholderSwaps(PartitionState& state, VictimIndex& victims, TaskGroups& task_groups,
                     UnconfirmedReleases& unconfirmed_releases, Reservations& reservations, PendingAsks& pending_asks,
                     Placements& placements)
        : state_(state),
          victims_(victims),
          task_groups_(task_groups),
          unconfirmed_releases_(unconfirmed_releases),
          reservations_(reservations),
          pending_asks_(pending_asks),
          placements_(placements) {}
    PlaceholderSwaps(const PlaceholderSwaps&) = delete;
    PlaceholderSwaps& operator=(const PlaceholderSwaps&) = delete;

    /// Releases placeholders that are smaller than a real ask of their group, without a successor (G-038).
    void give_up_too_small(const SwapPlan& plan, Instant now) noexcept;
    /// Begins a swap: the RM is to release the placeholder, and the real ask takes its place when the RM has confirmed
    /// that (G-034 to G-036). REQUIRES: the plan swaps.
    void swap(const SwapPlan& plan, Instant now) noexcept;
    /// Whether the real half of a swap is on another node than its placeholder.
    [[nodiscard]] bool is_elsewhere(AllocationId real) const noexcept;
    /// Whether the real half fits on the node once the placeholder is removed (G-043).
    [[nodiscard]] bool can_finish(AllocationId placeholder_id) const noexcept;
    /// Finishes a swap: removes the placeholder and places the real half, which is returned. The caller notifies the RM
    /// (G-037).
    [[nodiscard]] AllocationId finish(AllocationId placeholder, EventDetail detail, Instant now) noexcept;
    /// Ends a swap without result: the real half is pending again (G-043, G-074, G-075).
    void undo(AllocationId id, Instant now) noexcept;
    /// Ends a swap by removing the real half (G-044).
    void cancel(AllocationId id, bool timed_out, Instant now) noexcept;
    /// The real halves of swaps that are not confirmed yet, in the order of asks.
    [[nodiscard]] std::vector<AllocationId> in_flight_of(const Application& application) const noexcept;
    /// Asks the RM to release these, in one message, sorted by key.
    void notify_leaving(std::vector<AllocationId> leaving, TerminationType type, std::string_view message,
                        Instant now) noexcept;

private:
    void unlink_swap(AllocationId id, Instant now) noexcept;

    PartitionState& state_;
    VictimIndex& victims_;
    TaskGroups& task_groups_;
    UnconfirmedReleases& unconfirmed_releases_;
    Reservations& reservations_;
    PendingAsks& pending_asks_;
    Placements& placements_;
};

} // namespace yk
