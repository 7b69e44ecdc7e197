// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/replica_plan.h"

#include <catch2/catch.hpp>

#include <limits>

#include "libcore/mcs/replicas/application_requests.h"
#include "tests/unit/libcore/mcs/replicas/schedule_row.h"

namespace yk::testing {

using namespace mcs;

namespace {

constexpr std::size_t kAll = 1'000;
using Keys = std::vector<std::string>;

bool on_even_nodes(std::string_view node_id) {
    return node_id == "n0" || node_id == "n2";
}
ReplicaPlan scale(const ScheduleRow& row, std::int64_t wanted, std::size_t most = kAll) {
    return plan_scale(row.row, row.attempts, wanted, on_even_nodes, most);
}
std::vector<std::int64_t> replicas(const ReplicaPlan& plan) {
    std::vector<std::int64_t> found;
    for (const PlacementChange& each : plan.changes) found.push_back(each.replica);
    return found;
}

} // namespace

TEST_CASE("rs R-127 missing replicas get the lowest numbers that are free, and keys") {
    ScheduleRow row;
    row.add(1, PlacementState::Placed, "n0");
    row.add(2, PlacementState::Releasing, "n0"); // its number is not free yet
    row.add(4, PlacementState::Rejected);
    const ReplicaPlan plan = scale(row, 5);
    CHECK(replicas(plan) == std::vector<std::int64_t>{0, 3, 5});
    CHECK(plan.releases.empty());
    for (const PlacementChange& each : plan.changes) CHECK(each.placement == pending_placement("app", each.replica, 0));
}

TEST_CASE("rs R-127 what is as it was wanted makes an empty plan") {
    ScheduleRow row;
    row.add(0, PlacementState::Placed, "n0");
    row.add(1, PlacementState::Pending);
    CHECK(scale(row, 2).is_empty());
    CHECK(scale(ScheduleRow{}, 0).is_empty());
}

TEST_CASE("rs R-127 a plan is bounded however many are wanted, and the next one goes on") {
    ScheduleRow row;
    row.apply(scale(row, std::numeric_limits<std::int64_t>::max(), 3));
    CHECK(row.row.placements.size() == 3);
    row.apply(scale(row, std::numeric_limits<std::int64_t>::max(), 3));
    CHECK(row.row.placements.size() == 6);
    CHECK(row.row.placements.back().replica == 5);
    row.apply(scale(row, 0, 4));
    CHECK(row.row.placements.size() == 2);
}

TEST_CASE("rs R-128 not placed, then on nodes that are not usable, then the highest number goes first") {
    ScheduleRow row;
    row.add(0, PlacementState::Placed, "n1"); // not usable
    row.add(1, PlacementState::Pending);
    row.add(2, PlacementState::Placed, "n2");
    row.add(3, PlacementState::Rejected);
    row.add(4, PlacementState::Placed, "gone");
    row.add(5, PlacementState::Placed, "n0");
    row.add(6, PlacementState::Releasing, "n0"); // gone as far as numbers are concerned
    CHECK(replicas(scale(row, 0)) == std::vector<std::int64_t>{3, 1, 4, 0, 5, 2});
    CHECK(replicas(scale(row, 4)) == std::vector<std::int64_t>{3, 1});
    CHECK(scale(row, 6).is_empty());
}

TEST_CASE("rs R-128 the row of a placed replica goes when the core confirms, that of another at once") {
    ScheduleRow row;
    row.add(0, PlacementState::Placed, "n0", 2);
    row.add(1, PlacementState::Pending, "", 5);
    const ReplicaPlan plan = scale(row, 0);
    CHECK(plan.releases == Keys{"app/r1.5", "app/r0.2"});
    row.apply(plan);
    REQUIRE(row.row.placements.size() == 1);
    CHECK(row.row.placements[0].state == PlacementState::Releasing);
    CHECK(row.row.placements[0].node_id == "n0");
    CHECK(row.attempts.next == 6); // by now, so that nothing but placements is to be written when it has gone
    row.apply(plan_gone(row.row, row.attempts, "app/r0.2"));
    CHECK(row.row.placements.empty());
    CHECK(row.attempts.next == 6);
    row.apply(scale(row, 1));
    CHECK(row.row.placements[0].allocation_key == "app/r0.6");
}

TEST_CASE("rs R-127 a quarter of the replicas, rounded up, may be without a node, and one at least") {
    for (const auto& [wanted, most] : {std::pair{0, 1}, {1, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}})
        CHECK(most_unavailable(wanted) == most);
    CHECK(most_unavailable(std::numeric_limits<std::int64_t>::max()) > 0);
}

TEST_CASE("rs R-127 after a change of the Deployment replicas are started anew a few at a time, lowest first") {
    ScheduleRow row;
    for (std::int64_t each = 0; each < 5; ++each) row.add(each, PlacementState::Placed, "n0", each == 3 ? 9 : 0);
    row.add(5, PlacementState::Releasing, "n0");
    CHECK(plan_restarts(row.row, row.attempts, 2).is_empty()); // nothing is out of date
    row.attempts = outdated(row.row, row.attempts);
    CHECK(row.attempts == Attempts{10, 10});
    const ReplicaPlan first = plan_restarts(row.row, row.attempts, 2);
    CHECK(first.releases == Keys{"app/r0.0", "app/r1.0"});
    row.apply(first);
    CHECK(row.row.placements[0] == pending_placement("app", 0, 10));
    CHECK(plan_restarts(row.row, row.attempts, 2).is_empty()); // these two have no node yet
    row.apply(plan_placed(row.row, row.attempts, "app/r0.10", "n0", 1));
    const ReplicaPlan second = plan_restarts(row.row, row.attempts, 2);
    CHECK(second.releases == Keys{"app/r2.0"});
    CHECK(second.changes[0].placement == pending_placement("app", 2, 10));
}

TEST_CASE("rs R-127 replicas without a node are started anew at once, since nothing is lost by it") {
    ScheduleRow row;
    row.add(0, PlacementState::Placed, "n0");
    row.add(1, PlacementState::Pending);
    row.add(2, PlacementState::Rejected);
    row.attempts = outdated(row.row, row.attempts);
    const ReplicaPlan plan = plan_restarts(row.row, row.attempts, 1);
    CHECK(plan.releases == Keys{"app/r1.0", "app/r2.0"});
    row.apply(plan);
    CHECK(row.row.placements[2] == pending_placement("app", 2, 1));
}

TEST_CASE("rs R-129 a notice of a placement makes the replica placed, once") {
    ScheduleRow row;
    row.add(0, PlacementState::Pending);
    row.add(1, PlacementState::Rejected); // it was asked for again
    row.add(2, PlacementState::Releasing, "n0");
    const ReplicaPlan plan = plan_placed(row.row, row.attempts, "app/r0.0", "n2", 77);
    REQUIRE(plan.changes.size() == 1);
    CHECK(plan.changes[0].placement == Placement{0, 0, "app/r0.0", "n2", PlacementState::Placed, 77});
    row.apply(plan);
    CHECK(plan_placed(row.row, row.attempts, "app/r0.0", "n2", 99).is_empty());
    row.apply(plan_placed(row.row, row.attempts, "app/r1.0", "n2", 77));
    CHECK(row.row.placements[1].state == PlacementState::Placed);
    CHECK(plan_placed(row.row, row.attempts, "app/r2.0", "n0", 77).is_empty()); // its release is under way
}

TEST_CASE("rs R-130 what was placed for nobody is released") {
    ScheduleRow row;
    row.add(0, PlacementState::Pending, "", 1);
    for (const std::string key : {"app/r0.0", "app/r7.0", "app2/r0.1", "app/r0.1x", "stray", "app/r", ""}) {
        const ReplicaPlan plan = plan_placed(row.row, row.attempts, key, "n0", 1);
        CHECK(plan.releases == Keys{key});
        CHECK(plan.changes.empty());
        CHECK(plan_gone(row.row, row.attempts, key).is_empty());
        CHECK(plan_rejected(row.row, row.attempts, key).is_empty());
    }
}

TEST_CASE("rs R-131 a replica that the core takes away is asked for anew, under another key") {
    ScheduleRow row;
    row.add(0, PlacementState::Placed, "n0", 4);
    row.add(1, PlacementState::Placed, "n0", 7);
    row.apply(plan_gone(row.row, row.attempts, "app/r0.4"));
    CHECK(row.row.placements[0] == pending_placement("app", 0, 5));
    row.attempts = outdated(row.row, row.attempts);
    row.apply(plan_gone(row.row, row.attempts, "app/r1.7")); // what is asked for is of the changed Deployment
    CHECK(row.row.placements[1] == pending_placement("app", 1, 8));
    CHECK(row.row.placements[1].attempt >= row.attempts.current);
}

TEST_CASE("rs R-131 an ask that is refused is marked, and what is placed or given up is not") {
    ScheduleRow row;
    row.add(0, PlacementState::Pending);
    row.add(1, PlacementState::Placed, "n0");
    row.add(2, PlacementState::Releasing, "n0");
    row.apply(plan_rejected(row.row, row.attempts, "app/r0.0"));
    CHECK(row.row.placements[0].state == PlacementState::Rejected);
    CHECK(plan_rejected(row.row, row.attempts, "app/r0.0").is_empty());
    CHECK(plan_rejected(row.row, row.attempts, "app/r1.0").is_empty());
    CHECK(plan_rejected(row.row, row.attempts, "app/r2.0").is_empty());
}

} // namespace yk::testing
