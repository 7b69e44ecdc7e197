// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/evaluation_rounds.h"

#include <catch2/catch.hpp>

#include <set>

#include "tests/support/mcs/autoscaler_world.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

/// So many Deployments with a metric each, and only rounds: no reconciler, and nothing that a handler could do.
struct Rounds : AutoscalerWorld {
    explicit Rounds(int count) : AutoscalerWorld(without_resync()) {
        texts.policies["load"] = load_policy();
        for (int at = 0; at < count; ++at) {
            deployment_rows.create(deployment("web-" + std::to_string(at), 1, 100));
            change("web-" + std::to_string(at), [](Deployment& each) { each.policy = "load"; });
        }
        manager.add(rounds, evaluation_options());
        start();
        writes.log.clear();
    }
    void load_all(std::int64_t replicas) {
        for (const auto& [id, row] : deployment_rows.rows()) load(id, replicas);
    }
};

} // namespace

TEST_CASE("rs R-111 each Deployment is evaluated once in a period, spread evenly over it") {
    Rounds world(150);
    world.load_all(7);
    std::size_t most = 0, all = 0;
    for (int second = 0; second < 15; ++second) {
        world.pass(1s);
        most = std::max(most, world.writes.log.size());
        all += world.take_writes().size();
    }
    CHECK(all == 150);
    CHECK(most <= 11);
    for (const auto& [id, row] : world.scale_rows.rows()) CHECK(row.desired == 7);
}

TEST_CASE("rs R-111 a few Deployments have their turn as seldom as many") {
    Rounds world(2);
    int changes = 0;
    for (int second = 0; second < 150; ++second) { // each decision is another number
        world.load_all(second % 2 == 0 ? 20 + second : 60 - second / 5);
        world.pass(1s);
        changes += static_cast<int>(world.take_writes().size());
    }
    CHECK(changes == 20);
}

TEST_CASE("rs R-111 a changed Deployment is evaluated at once") {
    Rounds world(30);
    world.load_all(9);
    world.change("web-17", [](Deployment& each) { each.max_replicas = 50; });
    world.settle();
    CHECK(world.desired("web-17") == 9);
}

TEST_CASE("rs R-120 a thousand steady Deployments cause next to no writes") {
    Rounds world(1000);
    for (int minute = 0; minute < 5; ++minute) {
        world.load_all(3);
        world.pass(1min);
        if (minute == 0) world.take_writes();
    }
    CHECK(world.take_writes().empty());
}

TEST_CASE("rs R-120 a thousand Deployments whose recommendations alone change cause 20 writes a second on average") {
    Rounds world(1000);
    world.texts.policies["load"].down.window = 300s;
    for (const auto& [id, row] : world.deployment_rows.rows())
        world.change(id, [](Deployment& each) { each.priority = 1; });
    world.load_all(50);
    world.pass(1min);
    world.load_all(40);
    world.pass(1min); // the number is held back from here on, which is a condition
    world.take_writes();
    std::size_t all = 0;
    for (int turn = 0; turn < 8; ++turn) {
        world.load_all(39 - turn);
        world.pass(15s);
        for (const std::string& line : world.writes.log) REQUIRE(line.ends_with(" 50"));
        all += world.take_writes().size();
    }
    CHECK(all >= 1000);
    CHECK(all <= 2400);
}

TEST_CASE("rs R-117 what was recommended without a write counts for the windows") {
    Rounds world(1);
    world.texts.policies["load"].down.window = 300s;
    world.change("web-0", [](Deployment& each) { each.priority = 1; });
    const auto measure = [&](std::int64_t replicas, int minutes) {
        for (int minute = 0; minute < minutes; ++minute) {
            world.load("web-0", replicas);
            world.pass(1min);
        }
    };
    measure(6, 10);
    REQUIRE(world.desired("web-0") == 6);
    measure(2, 4); // the last 6 was recommended a few seconds before
    CHECK(world.desired("web-0") == 6);
    measure(2, 2);
    CHECK(world.desired("web-0") == 2);
}

TEST_CASE("rs R-110 the schedule of the week goes by the calendar, not by the clock of the process") {
    Rounds world(1);
    auto& policy = world.texts.policies["load"];
    policy = {};
    policy.schedule = {{ScheduleEntry::kEveryDay, 8 * 60, 12}, {ScheduleEntry::kEveryDay, 20 * 60, 2}};
    world.change("web-0", [](Deployment& each) { each.priority = 1; });
    const auto say = [&](Duration of_day) {
        world.autoscaler.set_calendar(Duration{-world.now.ns} + 24h * 20'000 + of_day);
    };
    say(7h + 59min);
    world.pass(16s);
    CHECK(world.desired("web-0") == 2);
    say(8h);
    world.pass(16s);
    CHECK(world.desired("web-0") == 12);
}

} // namespace yk::testing
