// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/schedule_progress.h"

#include <catch2/catch.hpp>

namespace yk::testing {

using namespace mcs;

namespace {

Progress accepted(std::int64_t desired, std::int64_t placed, std::int64_t pending) {
    Progress made;
    made.phase = ApplicationPhase::Accepted;
    made.desired = desired;
    made.counts = {placed, pending, 0};
    return made;
}

} // namespace

TEST_CASE("rs R-132 replicas are counted by what is wanted of them") {
    std::vector<Placement> placements(6);
    placements[1].state = placements[2].state = PlacementState::Placed;
    placements[3].state = PlacementState::Rejected;
    placements[4].state = PlacementState::Releasing;
    CHECK(counts_of(placements) == ReplicaCounts{2, 3, 1});
    CHECK(counts_of(placements).wanted() == 5);
    CHECK(counts_of({}) == ReplicaCounts{});
}

TEST_CASE("rs R-132 until the core has accepted the application, the state says how far it is") {
    Progress progress = accepted(3, 3, 0);
    for (const auto& [phase, state] : {std::pair{ApplicationPhase::Absent, ScheduleState::New},
                                       {ApplicationPhase::Submitted, ScheduleState::Submitted},
                                       {ApplicationPhase::Rejected, ScheduleState::Rejected}}) {
        progress.phase = phase;
        CHECK(state_of(progress) == state);
    }
}

TEST_CASE("rs R-132, P-14 what the core had accepted stays so while it is submitted again, so that no row is written "
          "for it") {
    Progress progress = accepted(3, 2, 1);
    for (const ApplicationPhase phase : {ApplicationPhase::Absent, ApplicationPhase::Submitted}) {
        progress.phase = phase;
        for (const ScheduleState before :
             {ScheduleState::Accepted, ScheduleState::Scheduling, ScheduleState::Scheduled}) {
            progress.before = before;
            CHECK(state_of(progress) == ScheduleState::Scheduling);
        }
        progress.before = ScheduleState::Degraded;
        CHECK(state_of(progress) == ScheduleState::Degraded);
        progress.before = ScheduleState::Rejected; // which is to be asked for anew
        CHECK(state_of(progress) != ScheduleState::Rejected);
    }
}

TEST_CASE("rs R-132 an accepted schedule is scheduled when all are placed, none at all included") {
    CHECK(state_of(accepted(3, 0, 0)) == ScheduleState::Accepted);
    CHECK(state_of(accepted(3, 0, 3)) == ScheduleState::Scheduling);
    CHECK(state_of(accepted(3, 2, 1)) == ScheduleState::Scheduling);
    CHECK(state_of(accepted(3, 3, 0)) == ScheduleState::Scheduled);
    CHECK(state_of(accepted(2, 3, 0)) == ScheduleState::Scheduled);
    CHECK(state_of(accepted(0, 0, 0)) == ScheduleState::Scheduled);
}

TEST_CASE("rs R-132 fewer than wanted for more than a minute is degraded, until all are placed") {
    Progress progress = accepted(3, 2, 1);
    progress.short_for = std::chrono::seconds{60};
    CHECK(state_of(progress) == ScheduleState::Scheduling);
    progress.short_for += Duration{1};
    CHECK(state_of(progress) == ScheduleState::Degraded);
    progress.before = ScheduleState::Degraded;
    progress.short_for = {}; // a restart has forgotten since when
    CHECK(state_of(progress) == ScheduleState::Degraded);
    progress.counts = {3, 0, 0};
    CHECK(state_of(progress) == ScheduleState::Scheduled);
}

} // namespace yk::testing
