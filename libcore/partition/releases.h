// SPDX-License-Identifier: Apache-2.0
#pragma once
// Releases: what the RM releases or confirms as released (S-470 to S-475).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/foreign_allocations.h"
#include "libcore/changes/pending_asks.h"
#include "libcore/changes/placeholder_swaps.h"
#include "libcore/changes/placements.h"
#include "libcore/partition/applications.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Releases {
public:
    Releases(PartitionState& state, PendingAsks& pending_asks, Placements& placements,
             PlaceholderSwaps& placeholder_swaps, ForeignAllocations& foreign_allocations, Applications& applications)
        : state_(state),
          pending_asks_(pending_asks),
          placements_(placements),
          placeholder_swaps_(placeholder_swaps),
          foreign_allocations_(foreign_allocations),
          applications_(applications) {}
    Releases(const Releases&) = delete;
    Releases& operator=(const Releases&) = delete;

    /// Releases an ask or allocation, or all of an application. `asks_only`: never an allocation. A refusal means that
    /// the release is ignored.
    [[nodiscard]] std::optional<Refusal> release(const ReleaseSpec& spec, bool asks_only, Instant now);
    /// Whether the RM is notified of the release: it decided on it itself, and does not confirm what the core asked for
    /// (S-472).
    [[nodiscard]] static bool is_echoed(TerminationType type) noexcept;

private:
    void release_all(ApplicationId id, const ReleaseSpec& spec, bool asks_only, Instant now);
    void release_swapped(AllocationId placeholder, const ReleaseSpec& spec, EventDetail detail, bool echoed,
                         Instant now);

    PartitionState& state_;
    PendingAsks& pending_asks_;
    Placements& placements_;
    PlaceholderSwaps& placeholder_swaps_;
    ForeignAllocations& foreign_allocations_;
    Applications& applications_;
};

} // namespace yk
