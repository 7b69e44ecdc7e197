// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/scale_history.h"

#include <limits>

#include <catch2/catch.hpp>

#include "libcore/resource_state/backoff.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

constexpr Instant kStart{1'000'000'000'000};

DirectionRules rules(std::vector<RateRule> rates, DirectionRules::Select select = DirectionRules::Select::Max) {
    return {select, {}, std::move(rates)};
}
constexpr auto kReplicas = RateRule::Type::Replicas;
constexpr auto kPercent = RateRule::Type::Percent;

} // namespace

TEST_CASE("rs R-117 going down waits until the highest recommendation has left the window") {
    ScaleHistory history;
    history.recommend(10, kStart);
    history.recommend(3, kStart + 100s);
    CHECK(history.stabilized(10, 3, 0s, 300s, kStart + 100s) == 10);
    history.recommend(3, kStart + 299s);
    CHECK(history.stabilized(10, 3, 0s, 300s, kStart + 299s) == 10);
    history.recommend(3, kStart + 300s);
    CHECK(history.stabilized(10, 3, 0s, 300s, kStart + 300s) == 3);
    CHECK(history.stabilized(10, 12, 0s, 300s, kStart + 300s) == 12); // up has no window
}

TEST_CASE("rs R-117 going up takes the lowest recommendation of its window") {
    ScaleHistory history;
    history.recommend(4, kStart);
    history.recommend(9, kStart + 10s);
    CHECK(history.stabilized(2, 9, 60s, 0s, kStart + 10s) == 4);
    CHECK(history.stabilized(2, 9, 5s, 0s, kStart + 10s) == 9);
}

TEST_CASE("rs R-118 the default rates: four or as many again going up, anything going down") {
    const ScaleHistory history;
    CHECK(history.upper_limit(1, default_up(), kStart) == 5);
    CHECK(history.upper_limit(10, default_up(), kStart) == 20);
    CHECK(history.lower_limit(10, default_down(), kStart) == 0);
}

TEST_CASE("rs R-118 what changed within the period counts") {
    ScaleHistory history;
    history.scaled(2, 6, kStart);
    const DirectionRules four = rules({{kReplicas, 4, 15s}});
    CHECK(history.upper_limit(6, four, kStart + 14s) == 6); // there were 2 when the period began
    CHECK(history.upper_limit(6, four, kStart + 15s) == 10);
    history.scaled(6, 3, kStart + 20s);
    CHECK(history.lower_limit(3, rules({{kReplicas, 4, 15s}}), kStart + 30s) == 2);
    CHECK(history.lower_limit(3, rules({{kReplicas, 1, 15s}}), kStart + 30s) == 3); // never above what there is
}

TEST_CASE("rs R-118 percent round up on the way up and down on the way down, so that small numbers move") {
    const ScaleHistory history;
    CHECK(history.upper_limit(5, rules({{kPercent, 10, 15s}}), kStart) == 6);
    CHECK(history.lower_limit(5, rules({{kPercent, 10, 15s}}), kStart) == 4);
    CHECK(history.lower_limit(1, rules({{kPercent, 1, 15s}}), kStart) == 0);
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    CHECK(history.upper_limit(most, rules({{kPercent, 1000, 15s}}), kStart) == most);
}

TEST_CASE("rs R-118 of several rules the most or the least generous counts, or nothing moves") {
    using Select = DirectionRules::Select;
    const ScaleHistory history;
    const std::vector<RateRule> two{{kReplicas, 1, 15s}, {kPercent, 50, 15s}};
    CHECK(history.upper_limit(10, rules(two, Select::Max), kStart) == 15);
    CHECK(history.upper_limit(10, rules(two, Select::Min), kStart) == 11);
    CHECK(history.upper_limit(10, rules(two, Select::Disabled), kStart) == 10);
    CHECK(history.lower_limit(10, rules(two, Select::Max), kStart) == 5);
    CHECK(history.lower_limit(10, rules(two, Select::Min), kStart) == 9);
    CHECK(history.lower_limit(10, rules(two, Select::Disabled), kStart) == 10);
}

TEST_CASE("rs R-119 the lists stay short, and thinning loses no extreme, sum or newest time") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        rs::Chance chance{seed};
        ScaleHistory history;
        std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = 0, added = 0, removed = 0;
        Instant now = kStart;
        for (int step = 0; step < 500; ++step) {
            now = now + chance.between(1ms, 30s);
            const auto asked = static_cast<std::int64_t>(chance.next() % 1000);
            const auto from = static_cast<std::int64_t>(chance.next() % 1000);
            history.recommend(asked, now);
            history.scaled(from, asked, now);
            lowest = std::min(lowest, asked);
            highest = std::max(highest, asked);
            (asked > from ? added : removed) += asked > from ? asked - from : from - asked;
            REQUIRE(history.recommendations().size() <= ScaleHistory::kMostEntries);
            REQUIRE(history.events().size() <= ScaleHistory::kMostEntries);
        }
        REQUIRE(history.recommendations().back().at == now);
        REQUIRE(history.stabilized(0, highest, 24h, 24h, now) == lowest);
        REQUIRE(history.stabilized(2000, lowest, 24h, 24h, now) == highest);
        for (const ScaleEvent& each : history.events()) {
            added -= each.added;
            removed -= each.removed;
        }
        REQUIRE(added == 0);
        REQUIRE(removed == 0);
    }
}

} // namespace yk::testing
