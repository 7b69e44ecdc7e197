// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/autoscaler.h"

#include <catch2/catch.hpp>

#include "tests/support/mcs/autoscaler_world.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

using Lines = std::vector<std::string>;

/// A world that runs, with one Deployment.
struct Running : AutoscalerWorld {
    explicit Running(Deployment first = deployment("web", 1, 10, 3)) {
        texts.policies["load"] = load_policy();
        deployment_rows.create(std::move(first));
        start();
    }
};

Deployment with_load(std::int64_t least = 1, std::int64_t most = 10) {
    Deployment made = deployment("web", least, most);
    made.policy = "load";
    return made;
}

} // namespace

TEST_CASE("rs R-107 a Deployment that comes gets a scale, one that changes another number, one that goes loses it") {
    Running world;
    CHECK(world.take_writes() == Lines{"insert web 3"});
    CHECK(world.scale("web")->owner.uid == world.deployment_rows.rows().at("web").meta.uid);
    CHECK(world.scale("web")->observed_generation == 1);
    CHECK(world.scale("web")->reason == "ManualReplicas");
    world.change("web", [](Deployment& each) { each.replicas = 5; });
    world.settle();
    CHECK(world.take_writes() == Lines{"update web 5"});
    CHECK(world.scale("web")->observed_generation == 2);
    world.deployment_rows.drop("web");
    world.settle();
    CHECK(world.take_writes() == Lines{"delete web"});
    CHECK(world.autoscaler.known() == 0);
}

TEST_CASE("rs R-107 the first number is that of the policy, else the given one, else the least") {
    Running world(deployment("least", 2, 10));
    CHECK(world.desired("least") == 2);
    Deployment paused = deployment("paused", 2, 10, 4);
    paused.is_paused = true;
    world.deployment_rows.create(paused);
    Deployment weekly = deployment("weekly", 2, 10);
    weekly.policy = "weekly";
    world.texts.policies["weekly"].schedule.push_back({ScheduleEntry::kEveryDay, 0, 7});
    world.deployment_rows.create(weekly);
    world.settle();
    CHECK(world.desired("paused") == 4);
    CHECK(world.desired("weekly") == 7);
    CHECK(world.scale("weekly")->reason == "Schedule");
}

TEST_CASE("rs R-107 a scale of another owner is replaced, one of this owner is left") {
    Running world;
    DeploymentScale released;
    released.meta.id = "old";
    released.owner = {kDeploymentKind, "old", ""};
    released.desired = 9;
    world.scale_rows.create(released);
    world.settle();
    CHECK(world.desired("old") == 9); // released on purpose
    world.deployment_rows.create(deployment("old", 1, 10, 2));
    world.settle();
    CHECK(world.desired("old") == 2);
    CHECK(world.scale("old")->owner.uid == world.deployment_rows.rows().at("old").meta.uid);
}

TEST_CASE("rs R-107 a scale that was adopted together with the create is not made a second time") {
    Running world;
    world.take_writes();
    Deployment adopting = deployment("old", 1, 10);
    adopting.policy = "load";
    DeploymentScale adopted;
    adopted.meta.id = "old";
    adopted.desired = 9;
    world.holds_writes = true;
    world.deployment_rows.create(adopting);
    world.settle(); // the cache has no scale yet
    adopted.owner = {kDeploymentKind, "old", world.deployment_rows.rows().at("old").meta.uid};
    world.scale_rows.create(adopted);
    world.holds_writes = false;
    world.pass(1s);
    CHECK(world.take_writes() == Lines{"update old 9"}); // generation and conditions are new
}

TEST_CASE("rs R-107 a Deployment that goes before its scale is inserted leaves no orphan") {
    Running world;
    world.take_writes();
    world.holds_writes = true;
    world.deployment_rows.create(deployment("short", 1, 10));
    world.settle();
    CHECK(world.queue.size() == 1);
    world.deployment_rows.drop("short");
    world.settle();
    world.holds_writes = false;
    world.pass(1s);
    CHECK(world.scale("short") == nullptr);
    CHECK(world.take_writes().empty());
    CHECK(world.notices.count("dead-letter") == 0);
}

TEST_CASE("rs R-107, F-43 a Deployment that is deleted and made again has a scale of its second life only") {
    Running world;
    world.deployment_rows.drop("web");
    world.deployment_rows.create(deployment("web", 1, 10, 8));
    world.pass(1s);
    CHECK(world.desired("web") == 8);
    CHECK(world.scale("web")->owner.uid == world.deployment_rows.rows().at("web").meta.uid);
}

TEST_CASE("a scale that its Deployment released stays, and one that went with it is not missed") {
    const auto mode = GENERATE(DeleteMode::Cascade, DeleteMode::Orphan);
    Deployment first = deployment("web", 1, 10, 3);
    first.delete_mode = mode;
    Running world(first);
    world.take_writes();
    world.drop("web");
    world.pass(1s);
    CHECK(world.take_writes().empty());
    CHECK(world.notices.count("dead-letter") == 0);
    CHECK((world.scale("web") != nullptr) == (mode == DeleteMode::Orphan));
}

TEST_CASE("a scale that was released is not deleted by a cache that does not know that yet") {
    Deployment first = deployment("web", 1, 10, 3);
    first.delete_mode = DeleteMode::Orphan;
    Running world(first);
    world.database.store_fault = [](std::string_view what) -> std::optional<rs::StoreError> {
        if (what == "read web") return rs::StoreError{rs::StoreFault::Transient, "not now"};
        return std::nullopt;
    };
    world.holds_writes = true;
    world.drop("web");
    world.settle();
    world.database.store_fault = nullptr;
    world.holds_writes = false;
    world.pass(1s);
    REQUIRE(world.scale("web") != nullptr);
    CHECK(world.scale("web")->owner.uid.empty());
}

TEST_CASE("rs R-108, F-44 a scale that a person deletes while its Deployment lives is made again, with its number") {
    Running world(with_load());
    world.load("web", 6);
    world.change("web", [](Deployment& each) { each.priority = 1; });
    world.settle();
    REQUIRE(world.desired("web") == 6);
    world.metrics.keep_only(world.deployment_rows.rows().at("web").meta.uid, nullptr); // no value any more
    world.scale_rows.drop("web");
    world.pass(1s); // by the event, not by the reconciler
    CHECK(world.desired("web") == 6);
    CHECK(world.scale("web")->reason == "MetricAboveTarget: load");
}

TEST_CASE("rs R-108 a scale that a person deletes right after it was written is made again at once") {
    Running world;
    world.take_writes();
    world.scale_rows.drop("web");
    world.pass(1s);
    CHECK(world.take_writes() == Lines{"insert web 3"});
}

TEST_CASE("a scale that was deleted before any cache saw it is made again when it is missed") {
    Running world;
    world.deployment_rows.create(deployment("new", 1, 10, 2));
    world.holds_writes = true;
    world.settle();
    world.database.is_log_down = true;
    world.database.store_fault = [](std::string_view what) -> std::optional<rs::StoreError> {
        if (what != "read new") return std::nullopt;
        return rs::StoreError{rs::StoreFault::Transient, "not now"};
    };
    world.holds_writes = false;
    world.settle();
    world.take_writes();
    world.scale_rows.drop("new");
    world.database.is_log_down = false;
    world.database.store_fault = nullptr;
    world.pass(300ms); // the cache has never had the scale, and so no event of its end
    world.change("new", [](Deployment& each) { each.replicas = 3; });
    world.pass(1s);
    CHECK(world.take_writes() == Lines{"insert new 3"});
}

TEST_CASE("rs R-108 what somebody else writes into a scale is overwritten and counted") {
    Running world;
    world.take_writes();
    world.scale_rows.change("web", [](DeploymentScale& each) { each.desired = 9; });
    world.settle();
    CHECK(world.desired("web") == 3);
    CHECK(world.take_writes() == Lines{"update web 3"});
    CHECK(world.autoscaler.foreign_writes() == 1);
    world.pass(10min);
    CHECK(world.take_writes().empty());
    CHECK(world.autoscaler.foreign_writes() == 1);
}

TEST_CASE("rs R-108 a number of somebody else does not become what a policy goes on from") {
    Running world(with_load());
    world.load("web", 4);
    world.change("web", [](Deployment& each) { each.priority = 1; });
    world.settle();
    REQUIRE(world.desired("web") == 4);
    const ScaleStatus before = world.status("web");
    world.metrics.keep_only(world.deployment_rows.rows().at("web").meta.uid, nullptr); // nothing says otherwise
    world.scale_rows.change("web", [](DeploymentScale& each) {
        each.desired = 9;
        each.status = "damaged";
        each.reason = "because";
    });
    world.settle();
    CHECK(world.desired("web") == 4);
    CHECK(world.scale("web")->reason == "MetricAboveTarget: load");
    CHECK(world.status("web").last_scaled == before.last_scaled);
    CHECK(world.autoscaler.foreign_writes() == 1);
    world.scale_rows.change("web", [](DeploymentScale& each) { each.desired = 2; }); // and once more
    world.settle();
    CHECK(world.desired("web") == 4);
    CHECK(world.autoscaler.foreign_writes() == 2);
}

TEST_CASE("rs R-108 what an earlier or a later leader wrote, and how the row is to be deleted, is nobody's else") {
    Running world;
    world.manager.set_lease(kAutoscalerService, std::nullopt, world.now);
    world.scale_rows.change("web", [](DeploymentScale& each) { // another instance led
        each.desired = 7;
        each.writer_epoch = 2;
    });
    world.settle();
    world.writes.lease_epoch = 3;
    world.lead(3);
    world.settle();
    CHECK(world.desired("web") == 3);
    CHECK(world.autoscaler.foreign_writes() == 0);
    world.scale_rows.change("web", [](DeploymentScale& each) { each.cascade_parent = "web"; });
    world.pass(1min);
    CHECK(world.autoscaler.foreign_writes() == 0);
    CHECK(world.scale("web")->cascade_parent == "web");
    world.scale_rows.change("web", [](DeploymentScale& each) { // another instance has begun to lead
        each.desired = 8;
        each.writer_epoch = 4;
    });
    world.settle();
    CHECK(world.autoscaler.foreign_writes() == 0);
}

TEST_CASE("rs R-108 an own write of which nobody knew whether it was carried out is no foreign one") {
    Running world;
    bool is_first = true;
    world.writes.fault = [&](const WriteRequest& request) -> std::optional<WriteOutcome> {
        if (!std::exchange(is_first, false)) return std::nullopt;
        const auto& row = std::get<UpdateScale>(request.command).row; // it is carried out, and the answer is lost
        world.scale_rows.change("web", [&](DeploymentScale& each) {
            each.desired = row.desired;
            each.reason = row.reason;
            each.status = row.status;
            each.observed_generation = row.observed_generation;
        });
        return Transient{"the connection was lost"};
    };
    world.change("web", [](Deployment& each) { each.replicas = 6; });
    world.pass(1min);
    CHECK(world.desired("web") == 6);
    CHECK(world.autoscaler.foreign_writes() == 0);
}

TEST_CASE(
    "rs R-112 rs R-121 metrics that nobody pushes are read from their sources, and a condition says why one cannot") {
    Running world;
    world.texts.policies["page"] = load_policy();
    MetricTarget& of_page = world.texts.policies["page"].metrics[0];
    of_page.source = MetricSource::Prometheus;
    Deployment reading = deployment("reading", 1, 10);
    reading.policy = "page";
    world.sources.values["load"] = 4000;
    world.deployment_rows.create(reading);
    world.settle();
    CHECK(world.desired("reading") == 4);
    CHECK(world.status("reading").conditions.scaling_active.reason == "PolicyDecides");
    CHECK(world.status("reading").conditions.scaling_active.message.empty());
    world.sources.values.clear();
    const auto look = [&] {
        world.now = world.now + 15s;
        static_cast<void>(world.autoscaler.update("reading", {{1, true}, world.now}, nullptr));
        world.settle();
        return world.status("reading").conditions.scaling_active;
    };
    CHECK(look().reason == "MetricsUnreadable");
    CHECK(look().message == "metric load: it answered 503");
    CHECK(world.desired("reading") == 4);
    world.take_writes();
    look();
    CHECK(world.take_writes().empty()); // it says the same
    world.sources.why = std::string(kLongestMessage, 'x');
    CHECK(look().message.size() == kLongestMessage);
    world.sources.values["load"] = 5000;
    CHECK(look().message.empty());
    CHECK(world.desired("reading") == 5);
}

TEST_CASE("rs R-112 while a number is given, or kept, no source is asked") {
    Running world;
    world.texts.policies["page"] = load_policy();
    world.texts.policies["page"].metrics[0].source = MetricSource::Core;
    world.change("web", [](Deployment& each) { each.policy = "page"; });
    world.settle();
    CHECK(world.sources.asked == 0);
    world.change("web", [](Deployment& each) { each.replicas.reset(); });
    world.settle();
    CHECK(world.sources.asked > 0);
    world.change("web", [](Deployment& each) { each.is_paused = true; });
    world.settle();
    const int before = world.sources.asked;
    static_cast<void>(world.autoscaler.update("web", {{1, true}, world.now}, nullptr));
    CHECK(world.sources.asked == before);
}

TEST_CASE(
    "rs R-121 of several metrics that cannot be read the condition names the first, and one that waits for values") {
    Running world(with_load());
    MetricTarget other = load_policy().metrics[0];
    other.name = "other";
    world.texts.policies["load"].metrics.push_back(other);
    world.change("web", [](Deployment& each) { each.priority = 1; });
    world.settle();
    const Condition active = world.status("web").conditions.scaling_active;
    CHECK(active.reason == "MetricsUnreadable");
    CHECK(active.message ==
          "metric load: no value was given in the last 90 s; ykctl deployment metric web load=VALUE gives one; and 1 "
          "more could not be read");
}

TEST_CASE("rs R-152 decisions are counted by direction and reason") {
    Running world;
    const auto count = [&](std::string_view direction, std::string_view reason) {
        for (const auto& line : world.autoscaler.decisions().lines())
            if (line.direction == direction && line.reason == reason) return line.count;
        return std::uint64_t{0};
    };
    CHECK(count("up", "ManualReplicas") == 1); // from the least
    world.change("web", [](Deployment& each) { each.replicas = 2; });
    world.settle();
    CHECK(count("down", "ManualReplicas") == 1);
    const auto before = count("none", "ManualReplicas");
    static_cast<void>(world.autoscaler.update("web", {{1, true}, world.now}, nullptr));
    CHECK(count("none", "ManualReplicas") == before + 1);
}

TEST_CASE("rs R-109 the events of the two kinds may come in any order") {
    Running world;
    DeploymentScale early;
    early.meta.id = "late";
    early.owner = {kDeploymentKind, "late", "uid-late"};
    early.desired = 7;
    world.scale_rows.create(early);
    world.settle();
    CHECK(world.desired("late") == 7); // it misses its partner, and that is no failure
    CHECK(world.notices.count("dead-letter") == 0);
    Deployment late = deployment("late", 1, 10, 4);
    world.deployment_rows.create(late);
    world.settle();
    CHECK(world.desired("late") == 4);
}

TEST_CASE("calls that are repeated write nothing more") {
    Running world;
    world.take_writes();
    world.manager.request_resync(kDeploymentKind, world.now);
    world.manager.request_resync(kScaleKind, world.now);
    world.pass(10s);
    CHECK(world.take_writes().empty());
    world.change("web", [](Deployment& each) { each.replicas = 4; });
    world.settle();
    world.manager.request_resync(kDeploymentKind, world.now);
    world.pass(10s);
    CHECK(world.take_writes() == Lines{"update web 4"});
}

TEST_CASE("rs R-091 what was written counts before the cache shows it, but not for ever") {
    Running world;
    world.take_writes();
    bool reads = true;
    world.database.store_fault = [&](std::string_view what) -> std::optional<rs::StoreError> {
        if (reads || what != "read web") return std::nullopt;
        return rs::StoreError{rs::StoreFault::Transient, "not now"};
    };
    const auto update = [&] { return world.autoscaler.update("web", {{1, true}, world.now}, nullptr).what(); };
    world.change("web", [](Deployment& each) { each.replicas = 6; });
    world.holds_writes = true;
    world.settle();
    reads = false;
    world.holds_writes = false;
    world.settle();
    REQUIRE(world.scales.cache().get("web")->desired == 3);
    CHECK(world.take_writes() == Lines{"update web 6"});
    CHECK(update() == rs::HandlerResult::What::Ok);
    world.now = world.now + 10s; // the cache has what the database has, for all that is known
    CHECK(update() == rs::HandlerResult::What::Later);
    world.settle();
    CHECK(world.take_writes().empty()); // and the database refuses what was based on a mistake
    CHECK(world.desired("web") == 6);
}

TEST_CASE("rs R-090 a write that was refused is tried again with what is there, one that failed is tried again") {
    Running world;
    world.take_writes();
    int faults = 3;
    const bool is_conflict = GENERATE(true, false);
    world.writes.fault = [&](const WriteRequest&) -> std::optional<WriteOutcome> {
        if (faults-- <= 0) return std::nullopt;
        if (is_conflict) return Conflict{Conflict::What::RowChanged, "another version", 7};
        return Transient{"the disk is full"};
    };
    world.change("web", [](Deployment& each) { each.replicas = 6; });
    world.pass(5s);
    CHECK(world.take_writes() == Lines{"update web 6"});
    CHECK(world.notices.count("dead-letter") == 0);
    const auto handlers = world.manager.status()[0].handlers;
    CHECK(handlers.at(0).counters.failures == (is_conflict ? 0 : 3));
}

TEST_CASE("rs R-087 a write that can never succeed is a dead letter at once, until the Deployment changes") {
    Running world;
    world.writes.fault = [](const WriteRequest&) { return Fatal{"no such column"}; };
    world.change("web", [](Deployment& each) { each.replicas = 6; });
    world.settle();
    CHECK(world.notices.count("dead-letter deployment/web by autoscaler: no such column") == 1);
    world.writes.fault = nullptr;
    world.change("web", [](Deployment& each) { each.replicas = 7; });
    world.settle();
    CHECK(world.desired("web") == 7);
    CHECK(world.notices.count("dead-letter-gone") == 1);
}

TEST_CASE("rs R-033 an error that nobody knows is tried again, but no endless number of times") {
    Running world;
    world.take_writes();
    int tries = 0;
    world.writes.fault = [&](const WriteRequest&) {
        ++tries;
        return Transient{"error 4711"};
    };
    world.change("web", [](Deployment& each) { each.replicas = 6; });
    world.pass(20min);
    CHECK(tries >= 14);
    CHECK(tries < 50); // then it is a dead letter, which is tried seldom
    CHECK(world.notices.count("dead-letter deployment/web by autoscaler: error 4711") == 1);
    world.writes.fault = nullptr;
    world.pass(1h);
    CHECK(world.desired("web") == 6);
    CHECK(world.notices.count("dead-letter-gone") == 1);
}

TEST_CASE("rs R-090 who is fenced stops, and goes on with a new lease") {
    Running world;
    world.take_writes();
    world.writes.lease_epoch = 2;
    world.change("web", [](Deployment& each) { each.replicas = 6; });
    world.settle();
    world.holds_writes = true;
    world.change("web", [](Deployment& each) { each.replicas = 7; });
    world.pass(1min);
    CHECK(world.take_writes().empty());
    CHECK(world.queue.size() == 0); // nothing is even asked for
    world.holds_writes = false;
    CHECK(world.notices.count("dead-letter") == 0);
    world.manager.set_lease(kAutoscalerService, std::nullopt, world.now);
    world.lead(2);
    world.settle();
    CHECK(world.take_writes() == Lines{"update web 7"});
}

TEST_CASE("rs R-092 without the lease nothing is written, and what was missed is made good at the takeover") {
    Running world;
    world.take_writes();
    world.manager.set_lease(kAutoscalerService, std::nullopt, world.now);
    world.deployment_rows.create(deployment("new", 1, 10, 2));
    world.pass(1min);
    CHECK(world.take_writes().empty());
    world.lead(1);
    world.settle();
    CHECK(world.take_writes() == Lines{"insert new 2"});
}

TEST_CASE("a lease that could not be renewed begins no write, and nothing is lost by that") {
    Running world;
    world.take_writes();
    world.manager.set_lease(kAutoscalerService, rs::Lease{1, false}, world.now);
    world.change("web", [](Deployment& each) { each.replicas = 6; });
    world.deployment_rows.create(deployment("new", 1, 10, 2));
    world.pass(1s);
    CHECK(world.take_writes().empty());
    world.lead(1);
    world.pass(10s);
    CHECK(world.desired("web") == 6);
    CHECK(world.desired("new") == 2);
}

TEST_CASE("a scale is written once at a time, whoever wants it") {
    Running world;
    world.take_writes();
    world.holds_writes = true;
    world.change("web", [](Deployment& each) { each.replicas = 6; });
    world.settle();
    CHECK(world.autoscaler.is_writing("web"));
    CHECK(world.autoscaler.update("web", {{1, true}, world.now}, nullptr).what() == rs::HandlerResult::What::Conflict);
    CHECK(world.queue.size() == 1);
    world.change("web", [](Deployment& each) { each.replicas = 7; });
    world.settle();
    CHECK(world.queue.size() == 1);
    world.holds_writes = false;
    world.settle();
    CHECK(world.take_writes() == Lines{"update web 6", "update web 7"});
}

TEST_CASE("a policy that cannot be understood keeps the number within the bounds, and says so") {
    Deployment first = with_load(2, 10);
    first.policy = "unheard-of";
    Running world(first);
    CHECK(world.desired("web") == 2);
    CHECK(world.status("web").conditions.able_to_scale.reason == "PolicyInvalid");
    world.change("web", [](Deployment& each) { each.policy = "load"; });
    world.load("web", 6);
    world.settle();
    REQUIRE(world.desired("web") == 6);
    world.change("web", [](Deployment& each) { each.policy = "unheard-of"; });
    world.settle();
    CHECK(world.desired("web") == 6);
    world.change("web", [](Deployment& each) { each.max_replicas = 5; });
    world.settle();
    CHECK(world.desired("web") == 5);
}

TEST_CASE("rs R-114 replicas count for a metric of the whole when they are placed, in a schedule of the same owner") {
    Running world(with_load(4, 100));
    world.texts.policies["load"].metrics[0].type = MetricType::Value;
    world.change("web", [](Deployment& each) { each.priority = 1; });
    DeploymentSchedule schedule;
    schedule.meta.id = "web";
    schedule.owner = {kDeploymentKind, "web", "uid-of-an-earlier-life"};
    schedule.placed = 3;
    world.schedule_rows.create(schedule);
    world.settle();
    const auto decide = [&] {
        world.load("web", 4); // four times the target
        static_cast<void>(world.autoscaler.update("web", {{1, true}, world.now}, nullptr));
        world.settle();
        return world.desired("web");
    };
    CHECK(decide() == 4);
    world.schedule_rows.change(
        "web", [&](DeploymentSchedule& row) { row.owner.uid = world.deployment_rows.rows().at("web").meta.uid; });
    world.settle();
    CHECK(decide() == 12);
}

TEST_CASE("rs R-114 a value of the whole is that of the replicas that were placed when it was measured") {
    Running world(with_load(2, 100));
    world.texts.policies["load"].metrics[0].type = MetricType::Value;
    world.texts.policies["load"].metrics[0].target = 2000;
    world.change("web", [](Deployment& each) { each.priority = 1; });
    DeploymentSchedule schedule;
    schedule.meta.id = "web";
    schedule.owner = {kDeploymentKind, "web", world.deployment_rows.rows().at("web").meta.uid};
    schedule.placed = 2;
    world.schedule_rows.create(schedule);
    world.settle();
    const auto decide = [&](std::int64_t placed) {
        world.schedule_rows.change("web", [&](DeploymentSchedule& row) { row.placed = placed; });
        world.pass(15s);
        static_cast<void>(world.autoscaler.update("web", {{1, true}, world.now}, nullptr));
        world.settle();
        return world.desired("web");
    };
    CHECK(decide(2) == 2);
    world.load("web", 4); // twice the target
    CHECK(decide(2) == 4);
    CHECK(decide(3) == 4); // they begin to run, and the value is one of two
    CHECK(decide(4) == 4);
    world.load("web", 4); // once more, though there are four
    CHECK(decide(4) == 8);
    CHECK(decide(8) == 8);
    world.load("web", 1); // half of the target
    CHECK(decide(8) == 4);
    CHECK(decide(6) == 4);
    CHECK(decide(4) == 4);
}

TEST_CASE("rs R-114 a value that was measured before an instance began to decide is not multiplied by it") {
    Running world;
    world.texts.policies["page"] = load_policy();
    MetricTarget& of_page = world.texts.policies["page"].metrics[0];
    of_page.source = MetricSource::Prometheus;
    of_page.type = MetricType::Value;
    Deployment reading = deployment("reading", 4, 10);
    reading.policy = "page";
    world.sources.values["load"] = 4000;
    world.sources.age = 30s;
    world.deployment_rows.create(reading);
    world.settle();
    const auto look = [&](Duration later) {
        world.now = world.now + later;
        static_cast<void>(world.autoscaler.update("reading", {{1, true}, world.now}, nullptr));
        world.settle();
        return world.status("reading").conditions.scaling_active;
    };
    CHECK(world.desired("reading") == 4);
    CHECK(look(15s).message.find("before this instance began to decide") != std::string::npos);
    CHECK(look(15s).reason == "PolicyDecides"); // it was measured since
}

TEST_CASE("values of a metric that the policy has no longer are forgotten, and so are those of one that has gone") {
    Running world(with_load());
    world.load("web", 6);
    CHECK(world.metrics.size() == 1);
    world.change("web", [](Deployment& each) { each.policy = "{}"; });
    world.settle();
    CHECK(world.metrics.size() == 0);
    world.change("web", [](Deployment& each) { each.policy = "load"; });
    world.settle();
    world.load("web", 6);
    world.drop("web");
    world.settle();
    CHECK(world.metrics.size() == 0);
}

TEST_CASE("rs R-119 the history survives a restart, with its brakes, and is no younger for it than it was written") {
    Running world(with_load());
    world.texts.policies["load"].down.window = 300s;
    world.load("web", 6);
    world.change("web", [](Deployment& each) { each.priority = 1; });
    world.settle();
    REQUIRE(world.desired("web") == 6);
    world.pass(1min);
    world.manager.set_lease(kAutoscalerService, std::nullopt, world.now); // the one before has ended
    Autoscaler restarted(world.ports());
    const auto update = [&] {
        world.load("web", 2);
        static_cast<void>(restarted.update("web", {{1, true}, world.now}, nullptr));
        world.settle();
        return world.desired("web");
    };
    CHECK(update() == 6);
    CHECK(world.status("web").conditions.stabilized.is_true);
    world.pass(299s);
    CHECK(update() == 6);
    world.pass(2s);
    CHECK(update() == 2);
}

} // namespace yk::testing
