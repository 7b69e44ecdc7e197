// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/metric_proposal.h"

#include <limits>

#include <catch2/catch.hpp>

#include "libcore/resource_state/backoff.h"

namespace yk::testing {

using namespace mcs;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

MetricTarget metric(MetricType type, std::int64_t target, std::int64_t tolerance = 100) {
    MetricTarget made;
    made.name = "load";
    made.type = type;
    made.target = target;
    made.tolerance_permille = tolerance;
    return made;
}

struct Case {
    MetricType type;
    std::int64_t target, tolerance, sum;
    std::int64_t replicas; // that gave a value each; -1: the sum is of the whole
    std::int64_t wanted, placed, most, expected;
};

constexpr auto kValue = MetricType::Value;
constexpr auto kAverage = MetricType::Average;

} // namespace

TEST_CASE("rs R-113, rs R-114, rs R-116, T-50 the number that a metric asks for") {
    const Case cases[] = {
        // a value at, near and off its target
        {kValue, 1000, 100, 1000, -1, 3, 3, 100, 3},
        {kValue, 1000, 100, 1100, -1, 3, 3, 100, 3},
        {kValue, 1000, 100, 1101, -1, 3, 3, 100, 4},
        {kValue, 1000, 100, 900, -1, 3, 3, 100, 3},
        {kValue, 1000, 100, 899, -1, 30, 30, 100, 27},
        {kValue, 1000, 100, 2000, -1, 3, 3, 100, 6},
        {kValue, 1000, 100, 500, -1, 3, 3, 100, 2},
        {kValue, 1000, 100, 0, -1, 3, 3, 100, 0},
        {kValue, 1000, 0, 1001, -1, 10, 10, 100, 11},
        {kValue, 1000, 0, 999, -1, 10, 10, 100, 10},
        {kValue, 100, 0, 100, -1, 3, 3, 100, 3}, // 3 * 0.1 / 0.1
        {kValue, 300, 0, 900, -1, 1, 1, 100, 3},
        {kValue, 1, 0, 3, -1, 7, 7, 100, 21},
        {kValue, 1000, 1000, 2000, -1, 3, 3, 100, 3},
        {kValue, 1000, 1000, 2001, -1, 3, 3, 100, 7},
        // never above what is allowed, and without overflow
        {kValue, 1000, 100, 90'000, -1, 3, 3, 100, 100},
        {kValue, 1, 0, kMost, -1, kMost, kMost, kMost, kMost},
        {kValue, kMost, 0, kMost, -1, 5, 5, 100, 5},
        {kAverage, kMost, 0, kMost, -1, kMost, kMost, kMost, 1},
        // replicas that are not placed have no part in a value
        {kValue, 1000, 100, 2000, -1, 10, 5, 100, 10},
        {kValue, 1000, 100, 1500, -1, 10, 5, 100, 10},
        {kValue, 1000, 100, 3000, -1, 10, 5, 100, 15},
        {kValue, 1000, 100, 500, -1, 10, 5, 100, 3},
        {kValue, 1000, 100, 500, -1, 2, 9, 100, 2},
        {kValue, 1000, 100, 5000, -1, 10, 0, 100, 10},
        {kValue, 1000, 100, 500, -1, 10, 0, 100, 1},
        // from nothing
        {kValue, 1000, 100, 0, -1, 0, 0, 100, 0},
        {kValue, 1000, 100, 1, -1, 0, 0, 100, 1},
        {kValue, 1000, 100, 1000, -1, 0, 0, 100, 1},
        {kValue, 1000, 100, 2500, -1, 0, 0, 100, 3},
        {kAverage, 1000, 100, 2500, -1, 0, 0, 100, 0},
        // the average of a sum
        {kAverage, 1000, 100, 3000, -1, 3, 3, 100, 3},
        {kAverage, 1000, 100, 3300, -1, 3, 3, 100, 3},
        {kAverage, 1000, 100, 3301, -1, 3, 3, 100, 4},
        {kAverage, 1000, 100, 2700, -1, 3, 3, 100, 3},
        {kAverage, 1000, 100, 1500, -1, 3, 3, 100, 2},
        {kAverage, 1000, 100, 0, -1, 3, 3, 100, 0},
        {kAverage, 1000, 100, 5000, -1, 10, 5, 100, 5},
        // replicas without a value: nothing on the way up, the target on the way down
        {kAverage, 1000, 100, 10'000, 5, 10, 5, 100, 10}, // 2 each, 5 missing: just the target
        {kAverage, 1000, 100, 6000, 3, 10, 5, 100, 10},   // turned
        {kAverage, 1000, 100, 15'000, 5, 10, 5, 100, 15},
        {kAverage, 1000, 100, 2500, 5, 10, 5, 100, 8},
        {kAverage, 1000, 100, 4500, 5, 10, 5, 100, 10}, // within the tolerance
        {kAverage, 1000, 100, 12'000, 6, 4, 4, 100, 12},
        {kAverage, 1000, 100, 7500, 10, 5, 5, 100, 5}, // below the target, with values of replicas that have gone
        // none is placed yet
        {kValue, 1000, 100, 1050, -1, 1, 0, 100, 1},
        {kValue, 1000, 100, 950, -1, 5, 0, 100, 5},
        {kValue, 1000, 100, 1101, -1, 1, 0, 100, 2},
    };
    for (const Case& each : cases) {
        INFO(each.sum << " for " << each.wanted << ", " << each.placed << " placed, target " << each.target);
        const MetricReading reading{each.sum, each.replicas < 0 ? std::nullopt : std::optional{each.replicas}};
        CHECK(propose(metric(each.type, each.target, each.tolerance), reading, {each.wanted, each.placed}, each.most) ==
              each.expected);
    }
}

TEST_CASE("rs R-114 a value asks for the smaller change where replicas came or went since it was measured") {
    const auto asked = [](std::int64_t value, PlacedRange placed, std::int64_t wanted) {
        const MetricReading reading{value, {}, {}, placed};
        return propose(metric(kValue, 1000), reading, {wanted, placed.most}, 100);
    };
    CHECK(asked(2000, {2, 4}, 4) == 4);
    CHECK(asked(2000, {4, 4}, 4) == 8);
    CHECK(asked(500, {2, 4}, 4) == 2);
    CHECK(asked(500, {2, 4}, 2) == 2);
    CHECK(asked(3000, {0, 2}, 2) == 3); // of none: as many as the value alone asks for
}

TEST_CASE("rs R-115 of several metrics the largest number wins") {
    const MetricTarget targets[] = {metric(kValue, 1000), metric(kValue, 1000)};
    const std::optional<MetricReading> both[] = {MetricReading{2000}, MetricReading{3000}};
    const auto proposal = propose(targets, both, {4, 4}, 100);
    CHECK(proposal.replicas == 12);
    CHECK(proposal.decisive == 1U);
    CHECK(proposal.unreadable == 0);
}

TEST_CASE("rs R-115 a metric that cannot be read lets others raise the number but not lower it") {
    const MetricTarget targets[] = {metric(kValue, 1000), metric(kValue, 1000)};
    const std::optional<MetricReading> low[] = {MetricReading{100}, std::nullopt};
    CHECK(propose(targets, low, {4, 4}, 100).replicas == 4);
    CHECK_FALSE(propose(targets, low, {4, 4}, 100).decisive);
    const std::optional<MetricReading> high[] = {std::nullopt, MetricReading{2000}};
    CHECK(propose(targets, high, {4, 4}, 100).replicas == 8);
    const std::optional<MetricReading> none[] = {std::nullopt, std::nullopt};
    CHECK(propose(targets, none, {4, 4}, 100).replicas == 4);
    CHECK(propose(targets, none, {4, 4}, 100).unreadable == 2);
}

TEST_CASE("rs R-113 more of a metric never asks for fewer replicas, and within the tolerance nothing changes") {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        rs::Chance chance{seed};
        const auto below = [&](std::uint64_t most) { return static_cast<std::int64_t>(chance.next() % most); };
        const MetricType type = below(2) == 0 ? kValue : kAverage; // one by one, so that each compiler draws alike
        const std::int64_t goal = 1 + below(5000);
        const MetricTarget target = metric(type, goal, below(3) == 0 ? 0 : below(1001));
        const ReplicaCount count{below(50), below(60)};
        const std::int64_t most = below(200);
        const std::optional<std::int64_t> replicas = below(2) == 0 ? std::nullopt : std::optional{1 + below(60)};
        std::int64_t before = 0;
        for (std::int64_t sum = 0; sum < 100'000; sum += 1 + below(3000)) {
            const std::int64_t asked = propose(target, {sum, replicas}, count, most);
            INFO("seed " << seed << ", sum " << sum);
            REQUIRE(asked >= before);
            REQUIRE(asked <= most);
            before = asked;
        }
        if (count.wanted == 0 || count.placed == 0 || target.type != kValue) continue;
        const std::int64_t slack = target.target * target.tolerance_permille / 1000;
        for (const std::int64_t sum : {target.target - slack, target.target, target.target + slack})
            REQUIRE(propose(target, {sum}, count, kMost) == count.wanted);
    }
}

} // namespace yk::testing
