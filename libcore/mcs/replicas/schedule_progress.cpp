// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/schedule_progress.h"

#include "libcore/base/check.h"

namespace yk::mcs {
namespace {

[[nodiscard]] ScheduleState state_of_accepted(const Progress& progress) {
    if (progress.counts.placed >= progress.desired) return ScheduleState::Scheduled;
    if (progress.before == ScheduleState::Degraded || progress.short_for > kDegradedAfter)
        return ScheduleState::Degraded;
    return progress.counts.wanted() == 0 ? ScheduleState::Accepted : ScheduleState::Scheduling;
}

/// Whoever takes over, or registers anew, submits every application again: what the core had accepted counts as
/// accepted until it says otherwise, or each row would be written twice for nothing.
[[nodiscard]] bool was_accepted(ScheduleState before) {
    return before == ScheduleState::Accepted || before == ScheduleState::Scheduling ||
           before == ScheduleState::Scheduled || before == ScheduleState::Degraded;
}

} // namespace

std::int64_t& ReplicaCounts::of(PlacementState state) {
    switch (state) {
    case PlacementState::Placed: return placed;
    case PlacementState::Pending:
    case PlacementState::Rejected: return pending;
    case PlacementState::Releasing: return releasing;
    }
    YK_UNREACHABLE("a placement without a state");
}

ReplicaCounts counts_of(const std::vector<Placement>& placements) {
    ReplicaCounts counts;
    for (const Placement& each : placements) counts.add(each.state);
    return counts;
}

ScheduleState state_of(const Progress& progress) {
    // Whether there is an application is nobody's concern while no replica is wanted.
    if (progress.desired == 0 && progress.counts.wanted() == 0) return ScheduleState::Scheduled;
    switch (progress.phase) {
    case ApplicationPhase::Absent:
        return was_accepted(progress.before) ? state_of_accepted(progress) : ScheduleState::New;
    case ApplicationPhase::Submitted:
        return was_accepted(progress.before) ? state_of_accepted(progress) : ScheduleState::Submitted;
    case ApplicationPhase::Accepted:
    case ApplicationPhase::Ended: return state_of_accepted(progress);
    case ApplicationPhase::Rejected: return ScheduleState::Rejected;
    }
    YK_UNREACHABLE("a phase without a state");
}

} // namespace yk::mcs
