// SPDX-License-Identifier: Apache-2.0
// The Scheduler on real databases, with their change logs and JSON texts. The core is one in memory, which ends with
// the process as that of ykd does; the test writes what users and the Autoscaler would.
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <catch2/catch.hpp>

#include "libcore/mcs/scheduler/scheduler_handlers.h"
#include "libcore/mcs/scheduler/scheduler_reconciler.h"
#include "libcore/resource_state/state_manager.h"
#include "protocol/mcs/schedule_text.h"
#include "tests/support/databases/state_database.h"
#include "tests/support/mcs/fake_core.h"

namespace yk::mcs {
namespace {

using namespace std::chrono_literals;

struct DeadLetters final : rs::NoticeSink {
    void notice(const rs::Notice& notice) override {
        if (notice.what == rs::NoticeKind::DeadLetter) ++count;
    }
    int count = 0;
};

/// What one process has: all of it is lost at a restart.
struct SchedulerProcess {
    SchedulerProcess(const testing::StateDatabase& database, rs::SqlConnection& connection, std::uint64_t epoch,
                     Instant now)
        : log(database.place->open_log()),
          deployment_rows(database.store<Deployment>(connection)),
          scale_rows(database.store<DeploymentScale>(connection)),
          schedule_rows(database.store<DeploymentSchedule>(connection)),
          node_rows(database.store<Node>(connection)),
          lease{epoch, true},
          manager(*log, notices, {}, 1),
          deployments(manager.add(*deployment_rows)),
          scales(manager.add(*scale_rows)),
          schedules(manager.add(*schedule_rows)),
          nodes(manager.add(*node_rows)),
          scheduler({deployments.cache(), scales.cache(), schedules.cache(), nodes.cache(), texts, queue, requests,
                     core.make_sums()},
                    {}, 1),
          on_deployment(scheduler, deployments),
          on_scale(scheduler, scales, deployments.cache()),
          on_schedule(scheduler, schedules),
          on_node(scheduler, nodes),
          reconciler(scheduler, {deployments.cache(), scales.cache(), schedules.cache()}) {
        const rs::HandlerOptions options = options_of(kSchedulerService);
        deployments.add_handler(on_deployment, options, now);
        scales.add_handler(on_scale, options, now);
        schedules.add_handler(on_schedule, options, now);
        nodes.add_handler(on_node, options, now);
        manager.add(reconciler, {std::string{kSchedulerService}});
        manager.set_lease(kSchedulerService, lease, now);
        manager.start(now);
    }

    DeadLetters notices;
    const std::unique_ptr<rs::ChangeLog> log;
    const std::unique_ptr<rs::ResourceStore<Deployment>> deployment_rows;
    const std::unique_ptr<rs::ResourceStore<DeploymentScale>> scale_rows;
    const std::unique_ptr<rs::ResourceStore<DeploymentSchedule>> schedule_rows;
    const std::unique_ptr<rs::ResourceStore<Node>> node_rows;
    const JsonScheduleTexts texts;
    const rs::Lease lease;
    WriteQueue queue;
    CoreRequests requests;
    testing::FakeCore core;
    rs::StateManager manager;
    rs::ResourceInformer<Deployment>& deployments;
    rs::ResourceInformer<DeploymentScale>& scales;
    rs::ResourceInformer<DeploymentSchedule>& schedules;
    rs::ResourceInformer<Node>& nodes;
    Scheduler scheduler;
    ScheduledDeploymentHandler on_deployment;
    ScheduledScaleHandler on_scale;
    ScheduleHandler on_schedule;
    NodeHandler on_node;
    SchedulerReconciler reconciler;
};

/// A database with a node for ten replicas, a process on it, and a clock that the test moves.
struct Cluster : testing::StateDatabase {
    explicit Cluster(testing::Engine on) : StateDatabase(on) {
        Node node;
        node.meta.id = "n1";
        node.capacity = {{"vcore", 10}};
        write(testing::kApi, InsertNode{node});
        restart();
    }

    // --- processes ------------------------------------------------------------------------------
    /// What it did not write is lost, and its core is gone.
    void end() { process.reset(); }
    void restart() {
        end();
        process = std::make_unique<SchedulerProcess>(*this, *connection, epoch, now);
        for (int turns = 0; !process->manager.is_running(); ++turns) {
            REQUIRE(turns < 100'000);
            if (!drive(process->manager, now)) now = now + 10ms;
        }
        process->scheduler.registered(process->scheduler.has_placements(), now);
        pass(1s);
    }
    /// Lets time pass, and has done what becomes due meanwhile.
    void pass(Duration time) {
        const Instant end_of_it = now + time;
        for (settle(); now < end_of_it; settle()) now = now + 100ms;
    }
    void settle() {
        process->manager.wake();
        for (int steps = 0; step(); ++steps) REQUIRE(steps < 100'000);
    }
    bool step() {
        if (drive(process->manager, now)) return true;
        if (const auto due = process->scheduler.next_due(now); due && *due <= now)
            process->scheduler.turn({process->lease, now});
        if (carry_out()) return true;
        process->core.take(process->requests);
        process->core.schedule();
        if (process->core.notices.empty()) return false;
        const CoreNotice notice = process->core.notices.front();
        process->core.notices.pop_front();
        process->scheduler.handle(notice, now);
        return true;
    }
    bool carry_out() {
        const auto call = process->queue.next();
        if (!call) return false;
        const WriteCommand& command = call->request().command;
        const bool is_lost = loses_placements && (std::holds_alternative<ChangePlacements>(command) ||
                                                  std::holds_alternative<UpdateSchedule>(command));
        WriteOutcome outcome = is_lost ? WriteOutcome{Transient{"the test loses it"}} : written(call->request());
        if (std::holds_alternative<Fenced>(outcome)) ++fenced;
        call->answer(std::move(outcome));
        process->manager.enqueue(kind_of(command), id_of(command), now);
        call->finish(now);
        return true;
    }

    // --- what users and the Autoscaler write ----------------------------------------------------
    [[nodiscard]] WriteOutcome written(const WriteRequest& request) const {
        const WriteRequest* const requests[] = {&request};
        return group->write(requests).outcomes.at(0);
    }
    void write(const WriterIdentity& writer, WriteCommand command) const {
        const WriteOutcome outcome = written({writer, std::move(command)});
        INFO(message_of(outcome));
        REQUIRE(std::holds_alternative<Written>(outcome));
    }
    void create(std::int64_t replicas, DeleteMode mode = DeleteMode::Cascade) const {
        Deployment row;
        row.meta.id = row.name = "web";
        row.queue = "root.a";
        row.user = "ann";
        row.resource = {{"vcore", 1}};
        row.max_replicas = 10;
        row.replicas = replicas;
        row.delete_mode = mode;
        write(testing::kApi, InsertDeployment{row, false});
        DeploymentScale size = scale("web", text("SELECT uid FROM deployment"));
        size.desired = replicas;
        write(testing::kScaler, InsertScale{size});
    }
    void resize(std::int64_t replicas) const {
        DeploymentScale size = scale("web");
        size.desired = replicas;
        write(testing::kScaler, UpdateScale{size, {text("SELECT uid FROM deployment_scale"), 0}});
    }

    // --- what there is --------------------------------------------------------------------------
    [[nodiscard]] std::int64_t number(const std::string& column) const {
        return *connection->number("SELECT " + column + " FROM deployment_schedule");
    }
    [[nodiscard]] std::int64_t placed() const { return count("placement WHERE state = 'Placed' AND node_id = 'n1'"); }
    /// All of every placement.
    [[nodiscard]] std::string placements() const {
        return list("SELECT replica || ' ' || attempt || ' ' || allocation_key || ' ' || coalesce(node_id, '-') || ' '"
                    " || state || ' ' || coalesce(placed_ms, 0) FROM placement ORDER BY replica");
    }
    /// What runs, and where: as the rows have it, and the core.
    [[nodiscard]] std::string places_in_rows() const {
        return list("SELECT allocation_key || '@' || node_id FROM placement WHERE state = 'Placed'"
                    " ORDER BY allocation_key");
    }
    [[nodiscard]] std::string places_in_core() const {
        std::string all;
        for (const auto& [key, each] : process->core.allocations)
            all += (all.empty() ? "" : ",") + key + '@' + each.node_id;
        return all;
    }

    std::uint64_t epoch = 4;       // of the lease that the next process has
    bool loses_placements = false; // what the core has placed does not get into the rows
    int fenced = 0;                // writes that the database has refused since another instance leads
    Instant now{1'000'000'000'000};
    std::unique_ptr<SchedulerProcess> process; // the last one: it ends before what it uses
};

} // namespace

TEST_CASE("rs R-127 rs R-129 the Scheduler on a database places a Deployment, and its rows say where") {
    Cluster cluster{YK_EACH_DATABASE};
    cluster.create(3);
    cluster.pass(1s);
    CHECK(cluster.placed() == 3);
    CHECK(cluster.number("placed") == 3);
    CHECK(cluster.number("pending") == 0);
    CHECK(cluster.number("desired") == 3);
    CHECK(cluster.number("writer_epoch") == 4);
    CHECK(cluster.text("SELECT state FROM deployment_schedule") == "Scheduled");
    CHECK(parse_schedule_status(cluster.text("SELECT status FROM deployment_schedule")).ok());
    CHECK(cluster.places_in_core() == cluster.places_in_rows());
    cluster.resize(12); // two find no place
    cluster.pass(1s);
    CHECK(cluster.number("placed") == 10);
    CHECK(cluster.number("pending") == 2);
    CHECK(cluster.text("SELECT state FROM deployment_schedule") == "Scheduling");
    cluster.resize(2);
    cluster.pass(1s);
    CHECK(cluster.placed() == 2);
    CHECK(cluster.count("placement") == 2);
    CHECK(cluster.places_in_core() == cluster.places_in_rows());
    CHECK(cluster.process->notices.count == 0);
}

TEST_CASE("rs R-123 rs R-124 F-13 the next process on a database takes over what is placed, and places nothing twice") {
    Cluster cluster{YK_EACH_DATABASE};
    cluster.create(3);
    cluster.pass(1s);
    const std::string before = cluster.placements(), places = cluster.places_in_rows();
    REQUIRE(cluster.placed() == 3);
    cluster.restart();
    CHECK(cluster.process->scheduler.core().state() == RmState::Running);
    CHECK(cluster.places_in_core() == places);
    cluster.pass(2min); // the reconciler has been there
    CHECK(cluster.placements() == before);
    CHECK(cluster.places_in_core() == places);
    cluster.resize(5);
    cluster.pass(1s);
    CHECK(cluster.placed() == 5);
    CHECK(cluster.placements().starts_with(before));
    CHECK(cluster.places_in_core() == cluster.places_in_rows());
    CHECK(cluster.process->notices.count == 0);
}

TEST_CASE("rs R-130 F-12 what a core placed before its process ended, and no row says, is asked for again") {
    Cluster cluster{YK_EACH_DATABASE};
    cluster.loses_placements = true;
    cluster.create(3);
    cluster.pass(1s);
    REQUIRE(cluster.process->core.allocations.size() == 3);
    REQUIRE(cluster.placed() == 0);
    cluster.loses_placements = false;
    cluster.restart();
    cluster.pass(1s);
    CHECK(cluster.placed() == 3);
    CHECK(cluster.count("placement") == 3);
    CHECK(cluster.places_in_core() == cluster.places_in_rows());
}

TEST_CASE("rs R-002 rs R-104 F-45 the Scheduler on a database takes back what a shell did to its rows") {
    Cluster cluster{YK_EACH_DATABASE};
    cluster.create(3);
    cluster.pass(1s);
    REQUIRE(cluster.placed() == 3);
    const std::string before = cluster.placements(), uid = cluster.text("SELECT uid FROM deployment_schedule");
    bool is_deleted = false;
    SECTION("a placement was removed, which no event says") {
        cluster.type("DELETE FROM placement WHERE replica = (SELECT max(replica) FROM placement)");
        REQUIRE(cluster.count("placement") == 2);
        cluster.process->manager.request_resync(kScheduleKind, cluster.now);
    }
    SECTION("placements were changed, which no event says") {
        cluster.type("UPDATE placement SET node_id = 'elsewhere', attempt = 7");
        cluster.process->manager.request_resync(kScheduleKind, cluster.now);
    }
    SECTION("the schedule was deleted, with its placements") {
        is_deleted = true;
        cluster.type("DELETE FROM deployment_schedule");
        REQUIRE(cluster.count("placement") == 0);
    }
    cluster.pass(2min);
    CHECK(cluster.placements() == before);
    CHECK(cluster.number("placed") == 3);
    CHECK((cluster.text("SELECT uid FROM deployment_schedule") != uid) == is_deleted);
    CHECK(cluster.places_in_core() == cluster.places_in_rows());
    CHECK(cluster.process->core.removed_applications == 0); // its replicas went on meanwhile
    CHECK(cluster.process->notices.count == 0);
}

TEST_CASE("F-01 the Scheduler on a database deletes a schedule whose Deployment went while no process ran") {
    Cluster cluster{YK_EACH_DATABASE};
    cluster.create(3, DeleteMode::Owners);
    cluster.pass(1s);
    REQUIRE(cluster.placed() == 3);
    cluster.end();
    cluster.type("DELETE FROM deployment");
    REQUIRE(cluster.count("placement") == 3);
    cluster.restart();
    cluster.pass(4s); // and one second in restart(), which makes 5 s since the caches are filled
    CHECK(cluster.count("deployment_schedule") == 0);
    CHECK(cluster.count("placement") == 0);
    CHECK(cluster.process->core.applications.empty());
    CHECK(cluster.process->core.allocations.empty());
}

/// A shell that heeds no foreign keys leaves orphans of every way of deleting.
TEST_CASE("rs R-104 rs R-137 a schedule that a shell left behind is removed, with what it has in the core") {
    Cluster cluster{YK_EACH_DATABASE};
    cluster.create(3);
    cluster.pass(1s);
    REQUIRE(cluster.placed() == 3);
    const auto shell = cluster.open();
    const bool is_sqlite = cluster.engine == testing::Engine::Sqlite;
    const char* const careless =
        is_sqlite ? "PRAGMA foreign_keys = OFF" : "SET session_replication_role = replica"; // and no event is logged
    REQUIRE(shell->run(careless).ok());
    REQUIRE(shell->run("DELETE FROM deployment").ok());
    REQUIRE(cluster.placed() == 3);
    cluster.process->manager.request_resync(kDeploymentKind, cluster.now); // sees what no event said
    cluster.pass(2min);
    CHECK(cluster.count("deployment_schedule") == 0);
    CHECK(cluster.count("placement") == 0);
    CHECK(cluster.process->core.allocations.empty());
}

TEST_CASE("rs R-141 F-40 a Scheduler whose lease another instance has taken writes nothing more into a database") {
    Cluster cluster{YK_EACH_DATABASE};
    cluster.create(3);
    cluster.pass(1s);
    REQUIRE(cluster.placed() == 3);
    const std::string before = cluster.placements();
    cluster.type("UPDATE lease SET epoch = 5 WHERE name = 'scheduler'"); // and this process has not heard of it
    cluster.resize(5);
    cluster.pass(5s);
    CHECK(cluster.fenced > 0);
    CHECK(cluster.placements() == before);
    CHECK(cluster.number("desired") == 3);
    CHECK(cluster.number("writer_epoch") == 4);
    CHECK(cluster.process->core.allocations.size() == 3); // nothing is asked for that no row has

    cluster.epoch = 5;
    cluster.restart();
    cluster.pass(1s);
    CHECK(cluster.placed() == 5);
    CHECK(cluster.placements().starts_with(before));
    CHECK(cluster.number("writer_epoch") == 5);
    const std::string uid = cluster.text("SELECT uid FROM deployment_schedule"), now_placed = cluster.placements();
    const WriteOutcome late = cluster.written({testing::kPlacer, DeleteSchedule{"web", {uid, 0}, false}});
    CHECK(std::holds_alternative<Fenced>(late));
    CHECK(cluster.placements() == now_placed);
}

} // namespace yk::mcs
