// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/scale_decision.h"

#include <catch2/catch.hpp>

#include "tests/support/mcs/deployments.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

/// One Deployment with a metric; what is decided is written at once.
struct Decided {
    Decided() { one.meta.uid = "u"; }

    ScaleDecision decide() {
        DecisionInput input{one, policy};
        input.last = last ? &*last : nullptr;
        input.is_there = last.has_value();
        input.last_write = last_write;
        input.placed = last ? last->row->desired : 0;
        input.readings = readings;
        input.fault = fault;
        input.now = input.wall = now;
        ScaleDecision made = mcs::decide(input);
        if (last) last->status.history = made.history;
        if (made.is_needed) write(made);
        return made;
    }
    void write(const ScaleDecision& made) {
        last = KnownScale{std::make_shared<DeploymentScale>(made.row), made.status, range_of(made.status.history)};
        last_write = now;
        ++writes;
    }
    void read(std::int64_t replicas) { readings[0] = MetricReading{replicas * 1000}; }
    /// Evaluates every 15 s.
    void pass(Duration time) {
        for (const Instant end = now + time; now < end;) {
            now = now + 15s;
            static_cast<void>(decide());
        }
    }

    Deployment one = deployment("web", 1, 100);
    ScalingPolicy policy = load_policy();
    std::vector<std::optional<MetricReading>> readings{MetricReading{4000}};
    std::optional<KnownScale> last;
    std::string fault; // why one could not be read
    Instant now{1'000'000'000'000}, last_write;
    int writes = 0;
};

} // namespace

TEST_CASE("rs R-120 a decision that changes nothing is not written") {
    Decided world;
    CHECK(world.decide().is_needed);
    CHECK(world.last->row->desired == 4);
    world.pass(1h);
    CHECK(world.writes == 1);
}

TEST_CASE("rs R-120 number, generation and conditions are written when they change, each by itself") {
    Decided world;
    world.decide();
    world.read(7);
    world.now = world.now + 15s;
    CHECK(world.decide().row.desired == 7);
    CHECK(world.writes == 2);
    ++world.one.meta.generation;
    CHECK(world.decide().row.observed_generation == 2);
    CHECK(world.writes == 3);
    world.one.is_paused = true;
    CHECK(world.decide().status.conditions.able_to_scale.reason == "Paused");
    CHECK(world.writes == 4);
    CHECK_FALSE(world.decide().is_needed);
}

TEST_CASE("rs R-120 the reason is that of the last change of the number") {
    Decided world;
    world.decide();
    CHECK(world.last->row->reason == "MetricAboveTarget: load");
    world.pass(10min); // within tolerance
    CHECK(world.last->row->reason == "MetricAboveTarget: load");
    world.read(2);
    world.pass(15s);
    CHECK(world.last->row->reason == "MetricBelowTarget: load");
    world.one.max_replicas = 1;
    world.pass(15s);
    CHECK(world.last->row->reason == "OutOfBounds");
}

TEST_CASE("rs R-120 a history that alone changes is written once a minute at most") {
    Decided world;
    world.policy.down.window = 300s;
    world.read(50);
    world.decide();
    const int before = world.writes;
    for (int step = 0; step < 40; ++step) { // 10 minutes of recommendations that are held back and differ
        world.read(40 - step % 20);
        world.pass(15s);
    }
    CHECK(world.writes - before <= 10 + 2); // and two conditions at most
    CHECK(world.writes - before >= 5);
}

TEST_CASE("rs R-120 what a condition says for people alone is written every 15 s at most") {
    Decided world;
    world.readings[0].reset();
    world.fault = "metric load: gone";
    world.decide();
    CHECK(world.last->status.conditions.scaling_active.message == "metric load: gone");
    world.fault = "metric load: slow";
    CHECK_FALSE(world.decide().is_needed);
    world.now = world.now + 14s;
    CHECK_FALSE(world.decide().is_needed);
    world.now = world.now + 1s;
    CHECK(world.decide().is_needed);
    CHECK(world.last->status.conditions.scaling_active.message == "metric load: slow");
    CHECK_FALSE(world.decide().is_needed);
}

TEST_CASE("the time of the last change is kept with the status") {
    Decided world;
    world.decide();
    const Instant first = world.now;
    CHECK(world.last->status.last_scaled == first);
    world.pass(5min);
    CHECK(world.last->status.last_scaled == first);
    world.read(9);
    world.pass(15s);
    CHECK(world.last->status.last_scaled == world.now);
}

TEST_CASE("rs R-118 a change counts for the rates once it is written, and not before") {
    Decided world;
    world.read(1);
    world.decide();
    world.policy.up.rates = {{RateRule::Type::Replicas, 2, 60s}};
    world.read(20);
    world.now = world.now + 60s;
    Decided unwritten = world;
    DecisionInput input{unwritten.one, unwritten.policy};
    input.last = &*unwritten.last;
    input.is_there = true;
    input.readings = unwritten.readings;
    for (int again = 0; again < 3; ++again) { // a write that fails each time
        input.now = unwritten.now = unwritten.now + 15s;
        const ScaleDecision made = mcs::decide(input);
        CHECK(made.row.desired == 3);
        CHECK(made.history.events().empty());
    }
    world.pass(15s);
    CHECK(world.last->row->desired == 3);
    world.pass(45s);
    CHECK(world.last->row->desired == 3);
    world.pass(15s);
    CHECK(world.last->row->desired == 5);
}

TEST_CASE("bounds that make no sense become the nearest that do") {
    CHECK(bounds_of(deployment("web", -3, 5)).min == 0);
    CHECK(bounds_of(deployment("web", 7, 5)).max == 7);
    Decided world;
    world.one.min_replicas = 7;
    world.one.max_replicas = 5;
    CHECK(world.decide().row.desired == 7);
}

} // namespace yk::testing
