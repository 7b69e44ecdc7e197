// SPDX-License-Identifier: Apache-2.0
// The Autoscaler on real databases, with their change logs and JSON texts.
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "libcore/mcs/autoscaler/autoscaler_handlers.h"
#include "libcore/mcs/autoscaler/autoscaler_reconciler.h"
#include "libcore/mcs/autoscaler/evaluation_rounds.h"
#include "libcore/resource_state/state_manager.h"
#include "protocol/mcs/policy_text.h"
#include "protocol/mcs/status_text.h"
#include "tests/support/databases/state_database.h"
#include "tests/support/resource_state/world.h"

namespace yk::mcs {
namespace {

using namespace std::chrono_literals;

struct NoNotices final : rs::NoticeSink {
    void notice(const rs::Notice& notice) override {
        if (notice.what == rs::NoticeKind::DeadLetter) ++dead_letters;
    }
    int dead_letters = 0;
};

/// What one process has: all of it is lost at a restart.
struct Process {
    Process(const testing::StateDatabase& database, rs::SqlConnection& connection, Instant now)
        : log(database.place->open_log()),
          deployment_rows(database.store<Deployment>(connection)),
          scale_rows(database.store<DeploymentScale>(connection)),
          schedule_rows(database.store<DeploymentSchedule>(connection)),
          manager(*log, notices, {}, 1),
          deployments(manager.add(*deployment_rows)),
          scales(manager.add(*scale_rows)),
          schedules(manager.add(*schedule_rows)),
          autoscaler({deployments.cache(), scales.cache(), schedules.cache(), metrics, texts, queue,
                      [this](std::string_view id, Instant at) { manager.enqueue(kScaleKind, id, at); }}),
          on_deployment(autoscaler, deployments),
          on_scale(autoscaler, scales),
          rounds(autoscaler, deployments.cache()),
          reconciler(autoscaler, deployments.cache(), scales.cache()) {
        deployments.add_handler(on_deployment, options_of(kAutoscalerService), now);
        scales.add_handler(on_scale, options_of(kAutoscalerService), now);
        deployments.add_handler(seen_deployments, {}, now);
        scales.add_handler(seen_scales, {}, now);
        schedules.add_handler(seen_schedules, {}, now);
        manager.add(rounds, evaluation_options());
        manager.add(reconciler, reconciler_options());
        manager.set_lease(kAutoscalerService, rs::Lease{3, true}, now);
        manager.start(now);
    }

    NoNotices notices;
    const std::unique_ptr<rs::ChangeLog> log;
    const std::unique_ptr<rs::ResourceStore<Deployment>> deployment_rows;
    const std::unique_ptr<rs::ResourceStore<DeploymentScale>> scale_rows;
    const std::unique_ptr<rs::ResourceStore<DeploymentSchedule>> schedule_rows;
    MetricBoard metrics;
    const JsonScaleTexts texts;
    WriteQueue queue;
    rs::StateManager manager;
    rs::ResourceInformer<Deployment>& deployments;
    rs::ResourceInformer<DeploymentScale>& scales;
    rs::ResourceInformer<DeploymentSchedule>& schedules;
    Autoscaler autoscaler;
    DeploymentHandler on_deployment;
    DeploymentScaleHandler on_scale;
    testing::KeptCalls<Deployment> seen_deployments; // what any handler of the kind is called for
    testing::KeptCalls<DeploymentScale> seen_scales;
    testing::KeptCalls<DeploymentSchedule> seen_schedules;
    EvaluationRounds rounds;
    AutoscalerReconciler reconciler;
};

struct Machine : testing::StateDatabase {
    explicit Machine(testing::Engine on) : StateDatabase(on) { restart(); }

    void restart() {
        process = std::make_unique<Process>(*this, *connection, now);
        pass(1s);
    }
    void settle() {
        process->manager.wake();
        for (int steps = 0; drive(process->manager, now) || carry_out(); ++steps) REQUIRE(steps < 100'000);
    }
    void pass(Duration time) {
        const Instant end = now + time;
        for (settle(); now < end; settle()) now = now + 100ms;
    }
    bool carry_out() {
        auto call = process->queue.next();
        if (!call) return false;
        call->answer(written(call->request()));
        call->finish(now);
        return true;
    }
    [[nodiscard]] std::int64_t number(const std::string& sql) const { return *connection->number(sql); }
    [[nodiscard]] WriteOutcome written(const WriteRequest& request) const {
        const WriteRequest* const requests[] = {&request};
        return group->write(requests).outcomes.at(0);
    }
    void write(WriteCommand command) const {
        const WriteOutcome outcome = written({testing::kApi, std::move(command)});
        INFO(message_of(outcome));
        REQUIRE(std::holds_alternative<Written>(outcome));
    }
    void create(DeleteMode mode, bool adopts = false) const {
        Deployment row;
        row.meta.id = "web";
        row.name = "web-server";
        row.queue = "root.q";
        row.min_replicas = 1;
        row.max_replicas = 10;
        row.policy = R"({"metrics":[{"name":"load","target":1000,"type":"average"}]})";
        row.delete_mode = mode;
        write(InsertDeployment{row, adopts});
    }
    void load(std::int64_t replicas) {
        const auto row = process->deployments.cache().get("web");
        REQUIRE(row != nullptr);
        REQUIRE(process->metrics
                    .push(row->meta.uid, *parse_policy(*row->policy), bounds_of(*row),
                          {"load", std::nullopt, replicas * 1000}, now)
                    .ok());
    }
    [[nodiscard]] std::int64_t desired() const { return number("SELECT desired FROM deployment_scale"); }
    [[nodiscard]] std::int64_t scales() const { return number("SELECT count(*) FROM deployment_scale"); }
    void drop() const {
        const std::string uid = text("SELECT uid FROM deployment");
        write(DeleteDeployment{"web", {uid, 0}, std::nullopt});
    }

    std::unique_ptr<Process> process;
    Instant now{1'000'000'000'000};
};

} // namespace

TEST_CASE("the Autoscaler on a database follows a metric, and goes on after a restart") {
    Machine machine{YK_EACH_DATABASE};
    machine.create(DeleteMode::Cascade);
    machine.pass(1s);
    CHECK(machine.desired() == 1);
    CHECK(machine.number("SELECT writer_epoch FROM deployment_scale") == 3);
    machine.load(4);
    machine.pass(16s);
    CHECK(machine.desired() == 4);
    CHECK(machine.text("SELECT reason FROM deployment_scale") == "MetricAboveTarget: load");
    CHECK(machine.text("SELECT status FROM deployment_scale").find("PolicyDecides") != std::string::npos);
    const std::int64_t version = machine.number("SELECT version FROM deployment_scale");
    machine.restart();
    machine.load(1);
    machine.pass(1min);
    CHECK(machine.desired() == 4); // the window of 5 minutes holds it, across the restart
    CHECK(machine.number("SELECT version FROM deployment_scale") <= version + 3);
    for (int minute = 0; minute < 5; ++minute) {
        machine.load(1);
        machine.pass(1min);
    }
    CHECK(machine.desired() == 1);
    CHECK(machine.process->notices.dead_letters == 0);
}

TEST_CASE("the Autoscaler on a database removes, leaves or adopts a scale as the Deployment wants it") {
    const auto mode = GENERATE(DeleteMode::Owners, DeleteMode::Cascade, DeleteMode::Orphan);
    const bool adopts = GENERATE(false, true);
    Machine machine{YK_EACH_DATABASE};
    machine.create(mode);
    machine.pass(1s);
    machine.load(4);
    machine.pass(16s);
    REQUIRE(machine.desired() == 4);
    machine.drop();
    machine.pass(2min); // the reconciler has been there
    REQUIRE(machine.scales() == (mode == DeleteMode::Orphan ? 1 : 0));
    machine.create(mode, adopts);
    machine.pass(5s);
    REQUIRE(machine.scales() == 1);
    CHECK(machine.desired() == (mode == DeleteMode::Orphan && adopts ? 4 : 1));
    CHECK(machine.text("SELECT owner_uid FROM deployment_scale") == machine.text("SELECT uid FROM deployment"));
    CHECK(machine.process->notices.dead_letters == 0);
}

TEST_CASE("F-01, F-02, F-44 the Autoscaler on a database repairs what a person did to the rows while it did not run") {
    Machine machine{YK_EACH_DATABASE};
    machine.create(DeleteMode::Owners);
    machine.pass(1s);
    machine.type("DELETE FROM deployment");
    machine.restart();
    CHECK(machine.scales() == 0); // the orphan was deleted
    machine.create(DeleteMode::Owners);
    machine.restart();
    CHECK(machine.scales() == 1); // one was made at the start
    machine.type("DELETE FROM deployment_scale");
    machine.pass(1s);
    CHECK(machine.scales() == 1); // and once more, by the event
}

TEST_CASE("F-09 a Deployment that takes its children along leaves no orphan, and each of the three is deleted once") {
    Machine machine{YK_EACH_DATABASE};
    machine.create(DeleteMode::Cascade);
    machine.pass(1s);
    DeploymentSchedule schedule = Machine::schedule("web"); // there is no Scheduler here
    schedule.owner.uid = machine.text("SELECT uid FROM deployment");
    const WriteOutcome made = machine.written({testing::kPlacer, InsertSchedule{schedule}});
    INFO(message_of(made));
    REQUIRE(std::holds_alternative<Written>(made));
    machine.pass(1s);
    Process& process = *machine.process;
    const auto calls = [&] {
        return std::vector{process.seen_deployments.take(), process.seen_scales.take(), process.seen_schedules.take()};
    };
    for (const auto& of_kind : calls()) REQUIRE_FALSE(of_kind.empty()); // each knows its row
    machine.drop();
    CHECK(machine.scales() == 0); // nobody had a turn since: it was the same transaction
    CHECK(machine.count("deployment_schedule") == 0);
    CHECK(machine.count("placement") == 0);
    for (const rs::Kind kind : {kDeploymentKind, kScaleKind, kScheduleKind})
        process.manager.request_resync(kind, machine.now); // sees that they have gone, too
    machine.pass(2min);
    for (const auto& of_kind : calls()) {
        REQUIRE(of_kind.size() == 1);
        CHECK(of_kind[0].starts_with("delete web v"));
    }
    CHECK(process.reconciler.counters(Finding::Orphan).found == 0);
    CHECK(process.notices.dead_letters == 0);
}

/// A shell that heeds no foreign keys leaves orphans of every way of deleting.
TEST_CASE(
    "rs R-137 children that a shell left behind are removed although their Deployment is one that takes them along") {
    Machine machine{YK_EACH_DATABASE};
    machine.create(DeleteMode::Cascade);
    machine.pass(1s);
    REQUIRE(machine.scales() == 1);
    const auto shell = machine.open();
    const bool is_sqlite = machine.engine == testing::Engine::Sqlite;
    const char* const careless =
        is_sqlite ? "PRAGMA foreign_keys = OFF" : "SET session_replication_role = replica"; // and no event is logged
    REQUIRE(shell->run(careless).ok());
    REQUIRE(shell->run("DELETE FROM deployment").ok());
    REQUIRE(machine.scales() == 1);
    machine.pass(12min); // a resync finds what no event said, and the reconciler what has no parent
    CHECK(machine.scales() == 0);
}

} // namespace yk::mcs
