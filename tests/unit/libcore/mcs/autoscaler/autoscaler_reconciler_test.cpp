// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/autoscaler_reconciler.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/mcs/autoscaler_world.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

using Lines = std::vector<std::string>;

/// A world without handlers, so that all is left to the reconciler, which runs when the test says so.
struct Reconciled : AutoscalerWorld {
    Reconciled() : AutoscalerWorld(without_resync(), 1, false) {}

    rs::RepairReport run(bool may_conclude = true) {
        const auto report = reconciler.run_once({now, {1, true}, may_conclude});
        settle();
        return report.value();
    }
    /// Two passes, so far apart that what is found has waited long enough.
    rs::RepairReport run_twice() {
        static_cast<void>(run());
        pass(1min);
        return run();
    }
    void add_scale(const std::string& id, const std::string& owner_uid, std::int64_t desired = 3,
                   std::int64_t generation = 1) {
        DeploymentScale made;
        made.meta.id = id;
        made.owner = {kDeploymentKind, id, owner_uid};
        made.desired = desired;
        made.observed_generation = generation;
        scale_rows.create(made);
    }
    void add_pair(const Deployment& row, std::int64_t desired, std::int64_t generation = 1) {
        deployment_rows.create(row);
        add_scale(row.meta.id, deployment_rows.rows().at(row.meta.id).meta.uid, desired, generation);
    }
    [[nodiscard]] std::uint64_t found(Finding finding) const { return reconciler.counters(finding).found; }
    [[nodiscard]] std::uint64_t repaired(Finding finding) const { return reconciler.counters(finding).repaired; }
};

} // namespace

TEST_CASE("rs R-101 rs R-106 a scale without its Deployment is deleted, one that was released is left") {
    Reconciled world;
    world.add_pair(deployment("web", 1, 10, 3), 3);
    world.add_scale("gone", "uid-of-nobody");
    world.add_scale("released", "");
    world.deployment_rows.create(deployment("reborn", 1, 10, 3));
    world.add_scale("reborn", "uid-of-the-first-life");
    world.start();
    const auto report = world.run();
    CHECK(world.take_writes() == Lines{"delete gone", "delete reborn"});
    CHECK(report.found == 2);
    CHECK(report.repaired == 2);
    CHECK_FALSE(report.has_more);
    CHECK(world.found(Finding::Orphan) == 2);
    CHECK(world.repaired(Finding::Orphan) == 2);
    world.run();
    CHECK(world.take_writes().empty());
    CHECK(world.found(Finding::Orphan) == 2);
}

TEST_CASE("rs R-101 a Deployment that is known for some seconds and has no scale gets one") {
    Reconciled world;
    world.deployment_rows.create(deployment("web", 1, 10, 3));
    world.start();
    world.run();
    world.pass(4s);
    world.run();
    CHECK(world.take_writes().empty());
    world.pass(1s);
    world.run();
    CHECK(world.take_writes() == Lines{"insert web 3"});
    CHECK(world.found(Finding::Missing) == 1);
    CHECK(world.repaired(Finding::Missing) == 1);
}

TEST_CASE("rs R-101 a number outside the bounds is put right, but not that of a paused Deployment, nor a given 0") {
    Reconciled world;
    Deployment paused = deployment("paused", 1, 10);
    paused.is_paused = true;
    world.add_pair(paused, 50);
    world.add_pair(deployment("off", 2, 10, 0), 0);
    world.add_pair(deployment("high", 1, 10), 50);
    world.add_pair(deployment("low", 4, 10, 7), 3);
    world.start();
    world.run();
    CHECK(world.take_writes() == Lines{"update high 1", "update low 7"}); // without a policy it is the least
    CHECK(world.repaired(Finding::OutOfRange) == 2);
    world.run();
    CHECK(world.take_writes().empty());
    CHECK(world.found(Finding::OutOfRange) == 2);
}

TEST_CASE("rs R-101 a scale that stays behind its Deployment's generation for long is computed anew") {
    Reconciled world;
    world.add_pair(deployment("web", 1, 10, 3), 3);
    world.start();
    world.change("web", [](Deployment& each) { each.replicas = 5; });
    world.settle();
    world.run();
    world.pass(29s);
    world.run();
    CHECK(world.take_writes().empty());
    world.change("web", [](Deployment& each) { each.replicas = 6; }); // the wait begins anew
    world.settle();
    world.run();
    world.pass(29s);
    world.run();
    CHECK(world.take_writes().empty());
    world.pass(1s);
    world.run();
    CHECK(world.take_writes() == Lines{"update web 6"});
    CHECK(world.repaired(Finding::Behind) == 1);
}

TEST_CASE("rs R-102 caches that do not follow the database cost no scale its row") {
    Reconciled world;
    world.add_scale("gone", "uid-of-nobody");
    world.start();
    CHECK(world.run(false).found == 0);
    CHECK(world.reconciler.skips_orphans());
    CHECK(world.take_writes().empty());
    world.run(true);
    CHECK_FALSE(world.reconciler.skips_orphans());
    CHECK(world.take_writes() == Lines{"delete gone"});
}

TEST_CASE("rs R-102 rs R-103 a Deployment that the cache lacks keeps its scale: the database decides") {
    Reconciled world;
    world.add_pair(deployment("web", 1, 10, 3), 3);
    world.deployment_rows.broken.insert("web"); // it cannot be understood, so no cache has it
    world.start();
    world.run();
    CHECK(world.take_writes().empty());
    CHECK(world.scale("web") != nullptr);
    CHECK(world.found(Finding::Orphan) == 1);
    CHECK(world.repaired(Finding::Orphan) == 0);
}

TEST_CASE("rs R-103 a scale that changed since it was looked at is not deleted") {
    Reconciled world;
    world.add_scale("gone", "uid-of-nobody");
    world.start();
    world.holds_writes = true;
    world.run();
    CHECK(world.queue.size() == 1);
    world.scale_rows.change("gone", [](DeploymentScale& each) { each.owner.uid.clear(); }); // released
    world.holds_writes = false;
    world.settle();
    CHECK(world.scale("gone") != nullptr);
    CHECK(world.repaired(Finding::Orphan) == 0);
}

TEST_CASE("rs R-105 a run does a part of the work, and the next one goes on there at once") {
    Reconciled world;
    for (int at = 0; at < 25; ++at) world.add_scale("gone-" + std::to_string(at), "uid-of-nobody");
    for (int at = 0; at < 30; ++at) world.add_pair(deployment("web-" + std::to_string(at), 1, 10, 3), 3);
    AutoscalerReconciler small(world.autoscaler, world.deployments.cache(), world.scales.cache(), {20, 10});
    world.start();
    int runs = 0;
    for (bool has_more = true; has_more; ++runs) {
        REQUIRE(runs < 20);
        const std::uint64_t before = small.counters(Finding::Orphan).found;
        const auto report = small.run_once({world.now, {1, true}, true});
        has_more = report.value().has_more;
        CHECK(small.counters(Finding::Orphan).found - before <= 10);
        CHECK(report.value().repaired == report.value().found);
        world.settle();
    }
    CHECK(runs >= 5); // 55 scales and 30 Deployments, 20 in a run at most
    CHECK(runs <= 6);
    CHECK(world.take_writes().size() == 25);
}

TEST_CASE("a write that fails is found again in the next pass") {
    Reconciled world;
    world.add_scale("gone", "uid-of-nobody");
    world.start();
    world.writes.fault = [](const WriteRequest&) { return Transient{"the disk is full"}; };
    world.run();
    CHECK(world.found(Finding::Orphan) == 1);
    CHECK(world.repaired(Finding::Orphan) == 0);
    world.writes.fault = nullptr;
    world.run();
    CHECK(world.repaired(Finding::Orphan) == 1);
    CHECK(world.scale("gone") == nullptr);
}

TEST_CASE("Deployments that went while nobody was called for them are forgotten") {
    Reconciled world;
    world.deployment_rows.create(deployment("web", 1, 10, 3));
    world.start();
    world.run_twice();
    CHECK(world.autoscaler.known() == 1);
    world.drop("web");
    world.settle();
    world.run(false);
    CHECK(world.autoscaler.known() == 1);
    world.run();
    CHECK(world.autoscaler.known() == 0);
}

TEST_CASE("F-01, F-02 a scale whose Deployment went while no process ran is deleted at the start, and a new one made") {
    AutoscalerWorld world(without_resync()); // both happened while no process ran
    world.add_periodic();
    DeploymentScale gone;
    gone.meta.id = "gone";
    gone.owner = {kDeploymentKind, "gone", "uid-of-nobody"};
    world.scale_rows.create(gone);
    world.deployment_rows.create(deployment("new", 1, 10, 2));
    world.start();
    CHECK(world.scale("gone") == nullptr);
    CHECK(world.desired("new") == 2);
}

namespace {

/// The reconciler, which says of a write whether it is its own: the handler makes the same one.
struct MarkedReconciler final : rs::PeriodicReconciler {
    MarkedReconciler(AutoscalerReconciler& marked, const Autoscaler& its_autoscaler)
        : inner(marked), autoscaler(its_autoscaler) {}
    [[nodiscard]] std::string_view name() const override { return inner.name(); }
    [[nodiscard]] Result<rs::RepairReport> run_once(const rs::PeriodicContext& context) override {
        const bool was_writing = autoscaler.is_writing("web");
        auto report = inner.run_once(context);
        is_writing = !was_writing && autoscaler.is_writing("web"); // a row is written once at a time
        return report;
    }

    AutoscalerReconciler& inner;
    const Autoscaler& autoscaler;
    bool is_writing = false; // the next write of "web" is the reconciler's
};

/// The Autoscaler's handler, but for on_delete, which fails every time.
struct FailingDelete final : rs::ResourceEventHandler<Deployment> {
    explicit FailingDelete(DeploymentHandler& whole) : inner(whole) {}
    [[nodiscard]] std::string_view name() const override { return inner.name(); }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context,
                                           const rs::Ptr<Deployment>& deployment) override {
        return inner.on_add(context, deployment);
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& context, const rs::Ptr<Deployment>& old,
                                              const rs::Ptr<Deployment>& current) override {
        return inner.on_update(context, old, current);
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& /*context*/,
                                              const rs::Ptr<Deployment>& last) override {
        given.push_back(last);
        return rs::HandlerResult::retry("not today");
    }

    DeploymentHandler& inner;
    std::vector<rs::Ptr<Deployment>> given; // to each call of on_delete
};

constexpr Duration kPeriod = 67s; // of the reconciler, with its jitter

} // namespace

TEST_CASE("F-07 an orphan goes within a minute while every write of its handler fails") {
    const bool is_final = GENERATE(false, true);
    const WriteOutcome failure = is_final ? WriteOutcome{Fatal{"never"}} : WriteOutcome{Transient{"not today"}};
    AutoscalerWorld world(without_resync());
    MarkedReconciler marked{world.reconciler, world.autoscaler};
    world.manager.add(marked, reconciler_options());
    world.deployment_rows.create(deployment("web", 1, 10, 2));
    world.start();
    REQUIRE(world.desired("web") == 2);
    int failed = 0, let_through = 0;
    world.writes.fault = [&](const WriteRequest&) -> std::optional<WriteOutcome> {
        if (std::exchange(marked.is_writing, false)) {
            ++let_through;
            return std::nullopt;
        }
        ++failed;
        return failure;
    };
    world.deployment_rows.drop("web");
    world.pass(1s);
    CHECK((is_final ? failed == 1 : failed > 1)); // what fails for good is not tried again
    CHECK(world.notices.count("dead-letter deployment/web by autoscaler: never") == (is_final ? 1U : 0U));
    REQUIRE(world.scale("web") != nullptr);
    world.pass(kPeriod);
    CHECK(world.scale("web") == nullptr);
    CHECK(let_through == 1); // the handler's writes fail to this moment
    CHECK(world.reconciler.counters(Finding::Orphan).repaired == 1);
}

TEST_CASE("F-07 a handler whose on_delete fails every time is given the same object until it is a dead letter") {
    AutoscalerWorld world(without_resync(), 1, false);
    world.add_periodic();
    FailingDelete failing{world.on_deployment};
    world.deployments.add_handler(failing, options_of(kAutoscalerService), world.now);
    world.scales.add_handler(world.on_scale, options_of(kAutoscalerService), world.now);
    world.deployment_rows.create(deployment("web", 1, 10, 2));
    world.start();
    REQUIRE(world.desired("web") == 2);
    world.deployment_rows.drop("web");
    world.pass(kPeriod);
    CHECK(world.scale("web") == nullptr);
    CHECK(world.notices.count("dead-letter") == 0); // it fails still, and is tried on
    CHECK(failing.given.size() > 5);
    for (int waits = 0; world.notices.count("dead-letter") == 0; ++waits) {
        REQUIRE(waits < 200);
        world.pass(10s);
    }
    CHECK(world.notices.count("dead-letter deployment/web by autoscaler: not today") == 1);
    CHECK(failing.given.size() == 14);
    for (const rs::Ptr<Deployment>& each : failing.given) CHECK(each == failing.given.front());
    CHECK(world.reconciler.counters(Finding::Orphan).repaired == 1);
}

} // namespace yk::testing
