// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a schedule is: its counters and its state, from its placements and from what the core has answered
// (rs R-132).

#include <cstdint>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/mcs/deployment_schedule.h"

namespace yk::mcs {

struct ReplicaCounts {
    std::int64_t placed = 0;
    std::int64_t pending = 0;   // wanted and not placed, those that the core has refused included
    std::int64_t releasing = 0; // not wanted any more

    [[nodiscard]] std::int64_t wanted() const { return placed + pending; }
    void add(PlacementState state) { of(state) += 1; }
    void remove(PlacementState state) { of(state) -= 1; }
    friend bool operator==(const ReplicaCounts&, const ReplicaCounts&) = default;

private:
    [[nodiscard]] std::int64_t& of(PlacementState state);
};
[[nodiscard]] ReplicaCounts counts_of(const std::vector<Placement>& placements);

/// What is known of the application in the core.
enum class ApplicationPhase : std::uint8_t {
    Absent,    // nobody has submitted it yet
    Submitted, // the core has not answered
    Accepted,
    Rejected,
    Ended // there was one; the core forgets those that have nothing left to do (rs R-133)
};

struct Progress {
    ApplicationPhase phase = ApplicationPhase::Absent;
    std::int64_t desired = 0;
    ReplicaCounts counts;
    ScheduleState before = ScheduleState::New; // the state so far
    Duration short_for{};                      // for so long fewer than `desired` have been placed
};

/// Fewer replicas than are wanted are no news while they are being placed, for a minute; a schedule that was degraded
/// stays so until all of them are placed, also after a restart, which forgets since when.
[[nodiscard]] ScheduleState state_of(const Progress& progress);

inline constexpr Duration kDegradedAfter = std::chrono::seconds{60};

} // namespace yk::mcs
