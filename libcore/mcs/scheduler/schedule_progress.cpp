// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/schedule_progress.h"

#include "libcore/base/check.h"

namespace yk::mcs {
namespace {

[[nodiscard]] ScheduleState state_of_accepted(const Progress& progress) {
    if (progress.counts.placed >= progress.desired) return ScheduleState::Scheduled;
    if (progress.before == ScheduleState::Degraded || progress.short_for > kDegradedAfter)
        return ScheduleState::Degraded;
    return progress.counts.wanted() == 0 ? ScheduleState::Accepted : ScheduleState::Scheduling;
}

} // namespace

ReplicaCounts counts_of(const std::vector<Placement>& placements) {
    ReplicaCounts counts;
    for (const Placement& each : placements) {
        switch (each.state) {
        case PlacementState::Placed: ++counts.placed; break;
        case PlacementState::Pending:
        case PlacementState::Rejected: ++counts.pending; break;
        case PlacementState::Releasing: ++counts.releasing; break;
        }
    }
    return counts;
}

ScheduleState state_of(const Progress& progress) {
    switch (progress.phase) {
    case ApplicationPhase::Absent: return ScheduleState::New;
    case ApplicationPhase::Submitted: return ScheduleState::Submitted;
    case ApplicationPhase::Accepted: return state_of_accepted(progress);
    case ApplicationPhase::Rejected: return ScheduleState::Rejected;
    case ApplicationPhase::Removing: return ScheduleState::Removing;
    }
    YK_UNREACHABLE("a phase without a state");
}

} // namespace yk::mcs
