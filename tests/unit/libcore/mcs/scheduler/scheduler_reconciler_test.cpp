// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/scheduler_reconciler.h"

#include <catch2/catch.hpp>

#include "tests/support/mcs/scheduler_world.h"

namespace yk::testing {

using namespace std::chrono_literals;
using namespace mcs;

namespace {

struct Reconciled : SchedulerWorld {
    Reconciled() {
        add_node("n1", 10);
        start();
        deploy("web", 3);
        pass(1s);
    }
    [[nodiscard]] std::uint64_t found(ScheduleFinding finding) const { return reconciler.counters(finding).found; }
    [[nodiscard]] std::uint64_t repaired(ScheduleFinding finding) const {
        return reconciler.counters(finding).repaired;
    }
    [[nodiscard]] std::uint64_t found_at_all() const {
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at < kScheduleFindings; ++at) sum += found(static_cast<ScheduleFinding>(at));
        return sum;
    }
};

} // namespace

TEST_CASE("rs R-104 where all is well, the reconciler finds nothing and writes nothing") {
    Reconciled world;
    const std::size_t before = world.writes.count;
    world.pass(600s);
    CHECK(world.found_at_all() == 0);
    CHECK(world.writes.count == before);
}

TEST_CASE("rs R-104 F-01 a schedule whose Deployment has gone unseen is deleted, and its application removed") {
    Reconciled world;
    world.deployment_rows.rows().erase("web"); // no event says it
    world.scale_rows.rows().erase("web");
    world.manager.request_resync(kDeploymentKind, world.now);
    SECTION("by the handler, once a resync has seen it") {}
    SECTION("by the reconciler, when the handler's write fails for good") {
        world.writes.fault = [](const WriteRequest& request) -> std::optional<WriteOutcome> {
            if (std::holds_alternative<DeleteSchedule>(request.command)) return Fatal{"no"};
            return std::nullopt;
        };
        world.pass(10s);
        REQUIRE(world.schedule("web") != nullptr);
        world.writes.fault = nullptr;
    }
    world.pass(130s);
    CHECK(world.schedule("web") == nullptr);
    CHECK(world.core.applications.empty());
    CHECK(world.core.allocations.empty());
}

/// The rows of one program's end are those of the next one's beginning; what it remembered is gone, and so is its core.
TEST_CASE("rs R-104 F-01 a schedule whose Deployment went while no process ran goes within 5 s of the start") {
    const bool is_owner_another = GENERATE(false, true); // the id was given to another Deployment meanwhile
    Reconciled first;
    REQUIRE(first.placed("web") == 3);
    SchedulerWorld next{2};
    next.texts = first.texts; // of the column `status`
    next.node_rows.rows() = first.node_rows.rows();
    next.schedule_rows.rows() = first.schedule_rows.rows();
    next.scale_rows.rows() = first.scale_rows.rows(); // the Autoscaler deletes it in its own time
    if (is_owner_another) {
        next.deployment_rows.rows() = first.deployment_rows.rows();
        next.deployment_rows.rows().at("web").meta.uid = "of-another";
    }
    next.start();
    REQUIRE(next.manager.is_running());
    next.pass(5s);
    CHECK(next.schedule("web") == nullptr);
    CHECK(next.reconciler.counters(ScheduleFinding::Orphan).repaired == 1);
    CHECK(next.scheduler.core().state() == RmState::Running);
    CHECK(next.core.nodes.size() == 1);
    CHECK(next.core.applications.empty());
    CHECK(next.core.allocations.empty());
    CHECK(next.scheduler.table().size() == 0);
}

TEST_CASE("rs R-102 rs R-104 nothing is deleted while the caches do not follow the database") {
    Reconciled world;
    world.scheduler.stand_down();
    world.deployment_rows.rows().erase("web");
    world.database.is_log_down = true;
    world.pass(130s);
    CHECK(world.schedule("web") != nullptr);
    CHECK(world.repaired(ScheduleFinding::Orphan) == 0);
}

TEST_CASE("rs R-104 wrong counters of a row are counted anew") {
    Reconciled world;
    world.schedule_rows.rows().find("web")->second.placed = 17;
    world.manager.request_resync(kScheduleKind, world.now);
    world.pass(200s);
    CHECK(world.placed("web") == 3);
    CHECK(world.repaired(ScheduleFinding::Miscounted) == 1);
}

TEST_CASE("rs R-104 what the core has and no schedule has is removed there, and what it has lost is submitted again") {
    Reconciled world;
    world.deploy("large", 9); // two of them wait
    world.deploy("late", 2);  // both wait
    world.pass(1s);
    world.core.applications["mcs-lost-01234567"] = AddApplication{"mcs-lost-01234567", "default", "", "u", {}, {}};
    world.core.remove_application(world.schedule("late")->application_id);
    world.pass(70s);
    CHECK(world.core.applications.contains("mcs-lost-01234567")); // what is seen once may be on its way
    world.pass(150s);
    CHECK_FALSE(world.core.applications.contains("mcs-lost-01234567"));
    CHECK(world.repaired(ScheduleFinding::Unknown) == 1);
    CHECK(world.repaired(ScheduleFinding::Removed) == 1);
    CHECK(world.core.applications.size() == 3);
    CHECK(world.core.allocations.size() == 14);
    world.pass(600s);
    CHECK(world.found_at_all() == 2);
}

TEST_CASE("rs R-104 an application that came back since it was missed is left alone") {
    Reconciled world;
    world.deploy("large", 9);
    world.deploy("late", 1); // waits
    world.pass(1s);
    const std::string application = world.schedule("late")->application_id;
    world.core.remove_application(application);
    const auto lists = [&] { return world.core.lists; };
    const std::size_t before = lists();
    while (lists() < before + 2) world.pass(1s);
    world.add_node("n9", 10);
    world.scale("late", 2); // the core says to this ask that it does not have the application
    world.pass(10s);
    REQUIRE(world.placed("late") == 2);
    const std::vector<Placement> placements = world.schedule("late")->placements;
    world.pass(300s);
    CHECK(world.schedule("late")->placements == placements);
    CHECK(world.core.allocations.size() == 14);
    CHECK(world.found_at_all() == 0);
}

TEST_CASE("rs R-104 rs R-105 more than one run repairs is repaired by the next ones") {
    Reconciled world;
    for (int number = 0; number < 1500; ++number) {
        const std::string id = "mcs-lost-" + std::to_string(10'000'000 + number);
        world.core.applications[id] = AddApplication{id, "default", "", "u", {}, {}};
    }
    world.core.applications["mcs-of-somebody"] = AddApplication{"mcs-of-somebody", "default", "", "u", {}, {}};
    world.pass(200s);
    CHECK(world.core.applications.size() == 2); // that of web, and the one that is none of a Deployment
    CHECK(world.repaired(ScheduleFinding::Unknown) == 1500);
}

TEST_CASE("rs R-104 a scale whose schedule could not be made, or not be changed, gets it") {
    Reconciled world;
    const bool is_new = GENERATE(true, false);
    world.writes.fault = [](const WriteRequest& request) -> std::optional<WriteOutcome> {
        if (std::holds_alternative<InsertSchedule>(request.command) ||
            std::holds_alternative<UpdateSchedule>(request.command))
            return Fatal{"no"};
        return std::nullopt;
    };
    if (is_new)
        world.deploy("api", 2);
    else
        world.scale("web", 5);
    world.pass(150s); // two passes
    const char* const name = is_new ? "api" : "web";
    CAPTURE(name);
    CHECK(world.found(is_new ? ScheduleFinding::Missing : ScheduleFinding::Behind) > 0);
    REQUIRE((is_new ? world.schedule(name) == nullptr : world.placed(name) == 3));
    world.writes.fault = nullptr;
    world.pass(100s);
    CHECK(world.placed(name) == (is_new ? 2 : 5));
}

TEST_CASE("rs R-104 what is known and has no row is released in the core, and made anew while it is wanted") {
    Reconciled world;
    world.manager.set_lease(kSchedulerService, std::nullopt, world.now); // no handler sees it
    world.schedule_rows.drop("web");
    const bool is_wanted = GENERATE(true, false);
    if (!is_wanted) world.drop("web");
    world.pass(1s);
    world.lead(1);
    world.pass(200s);
    CHECK((world.schedule("web") != nullptr) == is_wanted);
    CHECK(world.core.allocations.size() == (is_wanted ? 3 : 0));
}

TEST_CASE("rs R-104 rs R-125 a node that the core has refused is asked for again") {
    Reconciled world;
    world.add_node("n2", 5);
    world.manager.wake();
    while (!world.core.nodes.contains("n2")) REQUIRE(world.step());
    world.core.nodes.erase("n2");
    world.scheduler.handle(NodeRefused{"n2", "it does not like it", true}, world.now);
    CHECK(world.scheduler.nodes().refusal_of("n2") == "it does not like it");
    world.pass(70s);
    CHECK(world.core.nodes.contains("n2"));
    CHECK(world.repaired(ScheduleFinding::Node) == 1);
    CHECK(world.scheduler.nodes().refused_nodes() == 0);
}

} // namespace yk::testing
