// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/evaluate.h"

#include <catch2/catch.hpp>

#include "libcore/resource_state/backoff.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

/// One Deployment whose replicas are placed at once, and a clock.
struct Scaled {
    /// Decides and carries it out; twice, as a handler may be called twice.
    Evaluation evaluate() {
        static_cast<void>(evaluate_once());
        const Evaluation made = evaluate_once();
        history.scaled(wanted, made.desired, now);
        wanted = made.desired;
        return made;
    }
    [[nodiscard]] Evaluation evaluate_once() {
        return mcs::evaluate({policy, bounds, manual, paused, {wanted, wanted}, readings, now, now}, history);
    }
    void pass(Duration time) { now = now + time; }
    void with_metric() {
        policy.metrics.resize(1);
        readings.resize(1);
    }
    void read(std::int64_t value) { readings[0] = MetricReading{value}; }

    ScalingPolicy policy;
    ReplicaBounds bounds{1, 100};
    std::optional<std::int64_t> manual;
    bool paused = false;
    std::int64_t wanted = 4;
    std::vector<std::optional<MetricReading>> readings;
    Instant now{1'000'000'000'000};
    ScaleHistory history;
};

} // namespace

TEST_CASE("rs R-110 a given number holds within the bounds, and a paused Deployment keeps its own") {
    Scaled one;
    one.manual = 7;
    CHECK(one.evaluate().desired == 7);
    one.manual = 200;
    CHECK(one.evaluate().desired == 100);
    CHECK(one.evaluate().limit == Limit::MaxReplicas);
    one.paused = true;
    one.manual = 3;
    CHECK(one.evaluate().desired == 100);
    CHECK(one.evaluate().decision == Decision::Paused);
    one.wanted = 500; // even outside the bounds
    CHECK(one.evaluate().desired == 500);
}

TEST_CASE("rs R-116 0 given replicas switch scaling off, whatever the least is") {
    Scaled one;
    one.manual = 0;
    CHECK(one.evaluate().desired == 0);
    CHECK(one.evaluate().decision == Decision::Disabled);
    one.bounds.min = 0;
    CHECK(one.evaluate().decision == Decision::Manual);
}

TEST_CASE("rs R-107 without a number and without a policy it is the least") {
    Scaled one;
    one.bounds = {3, 9};
    CHECK(one.evaluate().desired == 3);
    CHECK(one.evaluate().decision == Decision::Minimum);
}

TEST_CASE("rs R-116 the bounds come first, without a window") {
    Scaled one;
    one.with_metric();
    one.read(1000);
    one.evaluate();
    one.bounds = {1, 2};
    CHECK(one.evaluate().desired == 2);
    one.bounds = {50, 100};
    CHECK(one.evaluate().desired == 50);
    CHECK(one.evaluate_once().decision == Decision::Unchanged);
}

TEST_CASE("rs R-117, rs R-118 a metric raises the number step by step, and lowers it when the window is over") {
    Scaled one;
    one.with_metric();
    one.read(10'000);
    CHECK(one.evaluate().desired == 8); // 40 are asked for
    CHECK(one.evaluate().limit == Limit::UpRate);
    one.pass(15s);
    CHECK(one.evaluate().desired == 16);
    one.read(500);
    for (int each = 0; each < 19; ++each) {
        one.pass(15s);
        CHECK(one.evaluate().stabilized == Limit::DownWindow);
        CHECK(one.wanted == 16);
    }
    one.pass(15s);
    CHECK(one.evaluate().desired == 8);
}

TEST_CASE("rs R-110 a schedule has no windows, and together with metrics the larger number wins") {
    Scaled one;
    one.policy.schedule = {{ScheduleEntry::kEveryDay, 0, 30}};
    CHECK(one.evaluate().desired == 30);
    CHECK(one.evaluate().decision == Decision::Schedule);
    one.policy.schedule[0].replicas = 2;
    CHECK(one.evaluate().desired == 2);
    one.with_metric();
    one.read(2000);
    CHECK(one.evaluate().desired == 4);
    CHECK(one.evaluate().decision == Decision::MetricAbove);
    one.policy.schedule[0].replicas = 300;
    CHECK(one.evaluate().desired == 100);
    CHECK(one.evaluate().limit == Limit::MaxReplicas);
}

TEST_CASE("rs R-115 without a readable metric nothing changes, and that can be seen") {
    Scaled one;
    one.with_metric();
    CHECK(one.evaluate().desired == 4);
    CHECK(one.evaluate().decision == Decision::Unreadable);
    CHECK(one.evaluate().unreadable == 1);
}

TEST_CASE("rs R-116 scaling from nothing needs a least of 0") {
    Scaled one;
    one.with_metric();
    one.bounds.min = 0;
    one.wanted = 0;
    one.read(0);
    CHECK(one.evaluate().desired == 0);
    one.read(2500);
    CHECK(one.evaluate().desired == 3);
}

TEST_CASE(
    "rs R-116, rs R-117 whatever happens the number is within the bounds, and does not flap within the tolerance") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        rs::Chance chance{seed};
        const auto below = [&](std::uint64_t most) { return static_cast<std::int64_t>(chance.next() % most); };
        Scaled one;
        one.with_metric();
        one.policy.down.window = seconds{below(600)};
        one.policy.up.window = seconds{below(60)};
        one.bounds.min = below(20);
        one.bounds.max = one.bounds.min + below(50);
        if (below(3) == 0) one.policy.schedule = {{ScheduleEntry::kEveryDay, 0, below(80)}};
        INFO("seed " << seed);
        for (int step = 0; step < 100; ++step) {
            if (below(10) == 0)
                one.readings[0].reset();
            else
                one.read(below(5000));
            one.pass(chance.between(1s, 60s));
            const Evaluation made = one.evaluate();
            REQUIRE(made.desired >= one.bounds.min);
            REQUIRE(made.desired <= one.bounds.max);
        }
        one.read(900 + below(201)); // all windows run out, and then nothing moves any more
        for (int step = 0; step < 50; ++step) {
            one.pass(15s);
            one.evaluate();
        }
        const std::int64_t settled = one.wanted;
        if (settled == 0) continue;
        for (int step = 0; step < 50; ++step) {
            one.read(900 + below(201));
            one.pass(15s);
            REQUIRE(one.evaluate().desired == settled);
        }
    }
}

} // namespace yk::testing
