// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/scheduler.h"

#include <catch2/catch.hpp>

#include "tests/support/mcs/scheduler_world.h"

namespace yk::testing {

using namespace std::chrono_literals;
using namespace mcs;

namespace {

/// One node with room for ten replicas, and a core.
struct TenPlaces : SchedulerWorld {
    TenPlaces() {
        add_node("n1", 10);
        start();
    }
};

std::string application_of(SchedulerWorld& world, std::string_view id) {
    return world.schedule(id)->application_id;
}

} // namespace

TEST_CASE("rs R-127 rs R-129 a Deployment is placed, and its row says where") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    REQUIRE(world.placed("web") == 3);
    CHECK(world.state("web") == ScheduleState::Scheduled);
    CHECK(world.schedule("web")->placements[2].node_id == "n1");
    CHECK(world.core.applications.at(application_of(world, "web")).tags.at("mcs.deployment.id") == "web");
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-127 rs R-128 it grows and shrinks with its scale, and releases what is not wanted") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.scale("web", 7);
    world.pass(1s);
    CHECK(world.placed("web") == 7);
    world.scale("web", 2);
    world.pass(1s);
    CHECK(world.placed("web") == 2);
    CHECK(world.core.allocations.size() == 2);
    CHECK(world.schedule("web")->placements.size() == 2);
    world.scale("web", 0);
    world.pass(1s);
    CHECK(world.core.allocations.empty());
    CHECK(world.state("web") == ScheduleState::Scheduled);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-132 what finds no place is pending, and Degraded after a minute; a new node ends that") {
    TenPlaces world;
    world.deploy("web", 12);
    world.pass(1s);
    CHECK(world.placed("web") == 10);
    CHECK(world.schedule("web")->pending == 2);
    CHECK(world.state("web") == ScheduleState::Scheduling);
    world.pass(62s);
    CHECK(world.state("web") == ScheduleState::Degraded);
    world.add_node("n2", 5);
    world.pass(1s);
    CHECK(world.placed("web") == 12);
    CHECK(world.state("web") == ScheduleState::Scheduled);
}

TEST_CASE("rs R-127 a change of what replicas ask for restarts them a quarter at a time") {
    TenPlaces world;
    world.deploy("web", 8);
    world.pass(1s);
    std::size_t least = 8;
    world.deployment_rows.change("web", [](Deployment& row) { row.priority = 5; });
    world.manager.wake();
    while (world.step()) least = std::min(least, world.core.placed(application_of(world, "web")));
    world.pass(10s);
    CHECK(least >= 6);
    CHECK(world.placed("web") == 8);
    for (const Placement& each : world.schedule("web")->placements) CHECK(each.attempt > 0);
    CHECK(world.texts.status_of(world.schedule("web")->status).value().versions.size() == 1);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-127 another queue is another application in the core") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.deployment_rows.change("web", [](Deployment& row) { row.queue = "root.b"; });
    world.pass(2s);
    CHECK(world.placed("web") == 3);
    CHECK(world.core.removed_applications == 1);
    CHECK(world.core.applications.at(application_of(world, "web")).queue == "root.b");
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-131 what the core gives up is asked for anew") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.core.evict(world.schedule("web")->placements[1].allocation_key);
    world.pass(1s);
    CHECK(world.placed("web") == 3);
    CHECK(world.schedule("web")->placements[1].attempt == 1);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-131 F-53 a rejected application is submitted again later, with the reason in the row") {
    TenPlaces world;
    world.core.refused_queues.insert("root.bad");
    world.deploy("web", 2, "root.bad");
    world.pass(500ms);
    CHECK(world.state("web") == ScheduleState::Rejected);
    CHECK(world.texts.status_of(world.schedule("web")->status).value().message == "no queue root.bad");
    world.core.refused_queues.clear();
    world.pass(3s);
    CHECK(world.placed("web") == 2);
    CHECK(world.texts.status_of(world.schedule("web")->status).value().message.empty());

    SECTION("and at once when queues or the Deployment change") {
        world.core.refused_queues.insert("root.bad");
        world.deploy("other", 2, "root.bad");
        world.pass(600s);
        REQUIRE(world.state("other") == ScheduleState::Rejected);
        world.core.refused_queues.clear();
        world.pass(1s);
        CHECK(world.placed("other") == 0);
        SECTION("queues") {
            world.scheduler.queues_changed(world.now);
        }
        SECTION("the Deployment") {
            world.deployment_rows.change("other", [](Deployment& row) { row.queue = "root.a"; });
        }
        world.pass(1s);
        CHECK(world.placed("other") == 2);
    }
}

TEST_CASE("rs R-131 rejected asks are tried again, under the same key") {
    TenPlaces world;
    world.core.most_vcore = 0;
    world.deploy("web", 2);
    world.pass(500ms);
    REQUIRE(world.schedule("web")->placements[0].state == PlacementState::Rejected);
    const std::string key = world.schedule("web")->placements[0].allocation_key;
    world.core.most_vcore = 1;
    world.pass(5s);
    CHECK(world.placed("web") == 2);
    CHECK(world.schedule("web")->placements[0].allocation_key == key);
}

TEST_CASE("rs R-133 an application that ended is submitted again when replicas are wanted") {
    TenPlaces world;
    world.deploy("web", 2);
    world.pass(1s);
    world.scale("web", 0);
    world.pass(1s);
    world.core.end_application(application_of(world, "web"));
    world.pass(1s);
    CHECK(world.state("web") == ScheduleState::Scheduled);
    CHECK(world.core.applications.empty());
    world.scale("web", 4);
    world.pass(1s);
    CHECK(world.placed("web") == 4);
    SECTION("and so is one that failed while they were") {
        world.core.end_application(application_of(world, "web"));
        world.pass(5s);
        CHECK(world.placed("web") == 4);
    }
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-104 an application that somebody has removed in the core is submitted again") {
    TenPlaces world;
    SECTION("as soon as one of its replicas is asked for anew") {
        world.deploy("web", 4);
        world.pass(1s);
        world.core.remove_application(application_of(world, "web"));
        world.pass(5s);
        CHECK(world.placed("web") == 4);
    }
    SECTION("at the latest by the reconciler, when all of them were waiting") {
        world.node_rows.change("n1", [](Node& row) { row.is_schedulable = false; });
        world.pass(1s);
        world.deploy("web", 4);
        world.pass(1s);
        CHECK(world.placed("web") == 0);
        world.core.remove_application(application_of(world, "web"));
        world.pass(2s);
        world.add_node("n9", 4);
        CHECK(world.core.applications.empty());
        world.pass(4min);
        CHECK(world.placed("web") == 4);
    }
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-125 F-54 a node that goes takes its replicas along, and they begin elsewhere") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.add_node("n2", 10);
    world.pass(1s);
    SECTION("it is drained first: what runs there stays") {
        world.node_rows.change("n1", [](Node& row) { row.is_schedulable = false; });
        world.pass(1s);
        CHECK(world.schedule("web")->placements[0].node_id == "n1");
        world.scale("web", 5);
        world.pass(1s);
        CHECK(world.schedule("web")->placements[4].node_id == "n2");
        world.scale("web", 2);
        world.pass(1s);
        CHECK(world.schedule("web")->placements[0].node_id == "n2"); // those on n1 went first
    }
    world.node_rows.drop("n1");
    world.pass(2s);
    for (const Placement& each : world.schedule("web")->placements) CHECK(each.node_id == "n2");
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-177 where nothing would run nothing is placed, and what was placed there goes elsewhere") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.node_rows.change("n1", [](Node& row) { row.attributes = {{"kind", "local"}}; });
    world.pass(2s);
    CHECK(world.placed("web") == 0);
    CHECK(world.core.nodes.empty());
    CHECK(world.scheduler.nodes().refusal_of("n1").find("runs no commands") != std::string::npos);
    world.add_node("n2", 10);
    world.pass(2s);
    CHECK(world.placed("web") == 3);
    for (const Placement& each : world.schedule("web")->placements) CHECK(each.node_id == "n2");
}

TEST_CASE("rs R-014 rs R-134 rs R-135 F-09 a Deployment that goes leaves nothing in the core") {
    TenPlaces world;
    world.deploy("web", 3);
    world.deployment_rows.change(
        "web", [](Deployment& row) { row.delete_mode = GENERATE(DeleteMode::Cascade, DeleteMode::Owners); });
    world.pass(1s);
    world.drop("web");
    world.pass(2s);
    CHECK(world.schedule("web") == nullptr);
    CHECK(world.core.applications.empty());
    CHECK(world.core.allocations.empty());
    CHECK(world.scheduler.table().size() == 0);
}

TEST_CASE("rs R-138 what is released goes on running, also over a restart, until a Deployment adopts it") {
    TenPlaces world;
    world.deploy("web", 3);
    world.deployment_rows.change("web", [](Deployment& row) { row.delete_mode = DeleteMode::Orphan; });
    world.pass(1s);
    world.drop("web");
    world.pass(2s);
    REQUIRE(world.placed("web") == 3);
    CHECK(world.core.allocations.size() == 3);
    const auto before = world.schedule("web")->placements;
    world.restart_core();
    world.pass(2s);
    CHECK(world.core.allocations.size() == 3);

    mcs::Deployment adopter = deployment("web", 0, 10, 3);
    adopter.queue = "root.a";
    adopter.user = "ann";
    adopter.resource = {{"vcore", 1}};
    world.deployment_rows.create(adopter);
    const std::string uid = world.deployment_rows.rows().find("web")->second.meta.uid;
    world.scale_rows.change("web", [&](DeploymentScale& row) { row.owner.uid = uid; });
    world.schedule_rows.change("web", [&](DeploymentSchedule& row) { row.owner.uid = uid; });
    world.pass(2s);
    CHECK(world.schedule("web")->placements == before);
    world.scale("web", 5);
    world.pass(2s);
    CHECK(world.placed("web") == 5);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-138 F-43 a Deployment that is made again is another application") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    const std::string before = application_of(world, "web");
    world.drop("web");
    world.deploy("web", 2);
    world.pass(2s);
    CHECK(world.placed("web") == 2);
    CHECK(application_of(world, "web") != before);
    CHECK(world.core.applications.size() == 1);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-002 F-45 what a person writes in the rows is taken back") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    const DeploymentSchedule before = *world.schedule("web");
    SECTION("with a new version") {
        world.schedule_rows.change("web", [](DeploymentSchedule& row) {
            row.placements.erase(row.placements.begin());
            row.placements[0].node_id = "elsewhere";
            row.desired = 77;
        });
        world.pass(1s);
    }
    SECTION("without: a resync finds it") {
        world.schedule_rows.rows().find("web")->second.placements[0].state = PlacementState::Pending;
        world.manager.request_resync(kScheduleKind, world.now);
        world.pass(60s);
    }
    SECTION("the status, which nobody can read then") {
        world.schedule_rows.change("web", [](DeploymentSchedule& row) { row.status = "nonsense"; });
        world.pass(1s);
        CHECK(world.texts.status_of(world.schedule("web")->status).ok());
    }
    SECTION("the row is deleted") {
        world.schedule_rows.drop("web");
        world.pass(1s);
        REQUIRE(world.schedule("web") != nullptr);
        CHECK(world.schedule("web")->meta.uid != before.meta.uid);
    }
    CHECK(world.schedule("web")->placements == before.placements);
    CHECK(world.schedule("web")->desired == 3);
    CHECK(world.core.allocations.size() == 3);
    CHECK(world.core.removed_applications == 0);
}

TEST_CASE("rs R-130 F-41 while the database is away nothing new is asked for, and nothing is lost") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.writes.fault = [](const WriteRequest&) { return WriteOutcome{Transient{"away"}}; };
    world.core.evict(world.schedule("web")->placements[1].allocation_key);
    world.scale("web", 6);
    world.pass(20s);
    CHECK(world.core.allocations.size() == 2);
    world.writes.fault = nullptr;
    world.pass(5s);
    CHECK(world.placed("web") == 6);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-130 a Deployment that went while the database was away leaves nothing in the core") {
    TenPlaces world;
    world.deploy("web", 3);
    world.manager.wake();
    world.writes.fault = [](const WriteRequest& request) -> std::optional<WriteOutcome> {
        if (std::holds_alternative<ChangePlacements>(request.command)) return Transient{"away"};
        return std::nullopt;
    };
    world.pass(1s);
    REQUIRE(world.core.allocations.size() == 3);
    CHECK(world.placed("web") == 0);
    CHECK(world.scheduler.unwritten() == 3);
    world.drop("web");
    world.writes.fault = nullptr;
    world.pass(5s);
    CHECK(world.core.allocations.empty());
    CHECK(world.core.applications.empty());
    CHECK(world.scheduler.unwritten() == 0);
}

// --- recovery --------------------------------------------------------------------------------------------------------

TEST_CASE("rs R-123 rs R-124 F-13 a core that is new takes over what runs, and nothing moves") {
    TenPlaces world;
    world.deploy("web", 3);
    world.deploy("api", 2);
    world.pass(1s);
    const auto before = world.schedule("web")->placements;
    world.restart_core();
    CHECK(world.scheduler.core().state() == RmState::Recovering);
    world.pass(1s);
    CHECK(world.scheduler.core().state() == RmState::Running);
    CHECK(world.core.allocations.size() == 5);
    CHECK(world.schedule("web")->placements == before);
    CHECK(world.difference().empty());
    world.scale("web", 5);
    world.pass(1s);
    CHECK(world.placed("web") == 5);
}

TEST_CASE("rs R-124 what was given up or is on a node that has gone is not brought back") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.scheduler.lost("the core has ended");
    world.core.restart();
    world.schedule_rows.change("web", [](DeploymentSchedule&) {});
    world.node_rows.drop("n1");
    world.add_node("n2", 10);
    world.pass(1s);
    world.join();
    world.pass(2s);
    CHECK(world.scheduler.core().state() == RmState::Running);
    CHECK(world.placed("web") == 3);
    for (const Placement& each : world.schedule("web")->placements) CHECK(each.node_id == "n2");
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-124 what the core cannot take over begins anew") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.core.refused_queues.insert("root.a");
    world.restart_core();
    world.pass(500ms);
    CHECK(world.scheduler.core().state() == RmState::Running);
    CHECK(world.placed("web") == 0);
    world.core.refused_queues.clear();
    world.pass(5s);
    CHECK(world.placed("web") == 3);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-124 what is given up during a recovery is part of it until it is released") {
    TenPlaces world;
    world.deploy("api", 2, "root.b");
    world.deploy("web", 4);
    world.pass(1s);
    world.core.refused_queues.insert("root.b"); // so that the first attempt is not the last
    world.writes.fault = [](const WriteRequest&) -> std::optional<WriteOutcome> { return Transient{"away"}; };
    world.restart_core();
    world.scale("web", 2); // released when the database has it
    world.settle();
    CHECK(world.scheduler.core().state() == RmState::Running);
    CHECK(world.core.placed(application_of(world, "web")) == 4);
    world.writes.fault = nullptr;
    world.pass(10s);
    CHECK(world.placed("web") == 2);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-092 rs R-140 an instance that takes over brings the rows with it") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.stand_down();
    world.pass(1s);
    CHECK(world.scheduler.table().size() == 0);
    world.take_over(2);
    world.pass(1s);
    CHECK(world.core.allocations.size() == 3);
    CHECK(world.placed("web") == 3);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-081 rs R-140 what goes while an instance takes over is not left in its core") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.stand_down();
    world.scale("web", 2);
    world.pass(1s);
    world.take_over(2);
    world.holds_writes = true;
    world.scheduler.turn({*world.lease, world.now}); // begins to write the schedule
    world.settle(); // the handler of the Deployment is called, and has to wait for that
    world.holds_writes = false;
    world.settle(); // it is written; the handler waits to be called again
    world.scale_rows.drop("web");
    world.schedule_rows.drop("web");
    world.settle();
    world.deployment_rows.drop("web");
    world.pass(2s);
    CHECK(world.core.allocations.empty());
    CHECK(world.core.applications.empty());
    CHECK(world.scheduler.table().size() == 0);
}

TEST_CASE("F-30 a database that went back gets what is known again") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    const DeploymentSchedule before = *world.schedule("web");
    world.scale("web", 5);
    world.pass(1s);
    world.schedule_rows.rows().find("web")->second = before; // and no event says so, nor does the lease end
    world.scale("web", 6);
    world.pass(2s);
    world.manager.request_resync(kScheduleKind, world.now);
    world.pass(5s);
    CHECK(world.placed("web") == 6);
    CHECK(world.core.allocations.size() == 6);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-090 a lease with a lower number than one that was refused is of a database that was restored") {
    TenPlaces world;
    world.deploy("web", 3);
    world.pass(1s);
    world.writes.lease_epoch = 7; // the one that this instance has, 1, is refused
    world.scale("web", 4);
    world.pass(1s);
    CHECK(world.placed("web") == 3);
    world.writes.lease_epoch = 0; // and the backup has an earlier one
    world.lead(0);
    world.scale("web", 5);
    world.pass(2s);
    CHECK(world.placed("web") == 5);
    CHECK(world.difference().empty());
}

TEST_CASE("a row that was copied by hand costs nobody else anything, and is reported") {
    TenPlaces world;
    world.deploy("web", 2);
    world.pass(1s);
    DeploymentSchedule copy = *world.schedule("web");
    copy.meta = {};
    copy.meta.id = "copied";
    world.schedule_rows.create(copy);
    world.pass(1s);
    const auto web_alone_is_there = [&] {
        CHECK(world.placed("web") == 2);
        CHECK(world.core.allocations.size() == 2);
        CHECK(world.scheduler.table().size() == 1);
        CHECK(world.scheduler.table().find("web") != nullptr);
    };
    web_alone_is_there();
    CHECK(world.schedules.deliveries().handlers().front()->dead_letters() == 1);
    world.restart_core();
    world.pass(2s);
    web_alone_is_there();
    world.stand_down();
    world.take_over(2); // what it loads first is the copy, whose id comes first
    world.pass(2s);
    web_alone_is_there();
    world.deploy("copied", 1); // its schedule comes in the place of the copy
    world.pass(2s);
    CHECK(world.placed("copied") == 1);
    CHECK(world.core.allocations.size() == 3);
    CHECK(world.difference().empty());
}

TEST_CASE("a schedule that names another one's application is not used, and made anew when it is deleted") {
    TenPlaces world;
    world.deploy("api", 1);
    world.deploy("web", 2);
    world.pass(1s);
    world.stand_down();
    const std::string taken = world.schedule("web")->application_id;
    world.schedule_rows.change("api", [&](DeploymentSchedule& row) { row.application_id = taken; });
    world.pass(1s); // it is seen
    world.take_over(2);
    world.pass(2s);
    CHECK(world.placed("web") == 2);
    CHECK(world.core.allocations.size() == 2);
    CHECK(world.scheduler.table().find("api") == nullptr);
    world.schedule_rows.drop("api"); // as the dead letter says
    world.pass(2s);
    CHECK(world.placed("api") == 1);
    CHECK(world.core.allocations.size() == 3);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-087 placements that the database refused are written with the next write of the row") {
    TenPlaces world;
    bool refuses = true;
    world.writes.fault = [&](const WriteRequest& request) -> std::optional<WriteOutcome> {
        const bool is_refused = refuses && std::holds_alternative<ChangePlacements>(request.command);
        return is_refused ? std::optional<WriteOutcome>{Fatal{"no"}} : std::nullopt;
    };
    world.deploy("web", 3);
    world.pass(1s);
    refuses = false;
    world.pass(31s); // it is tried now and then
    CHECK(world.placed("web") == 3);
    CHECK(world.difference().empty());
}

} // namespace yk::testing
