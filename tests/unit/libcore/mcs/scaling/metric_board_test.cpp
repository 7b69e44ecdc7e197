// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/metric_board.h"

#include <catch2/catch.hpp>

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

/// A Deployment with a metric `latency` of the whole and a metric `load` of its replicas.
struct Board {
    Board() {
        policy.metrics.resize(2);
        policy.metrics[0].name = "latency";
        policy.metrics[1].name = "load";
        policy.metrics[1].type = MetricType::Average;
    }
    std::string push(std::string_view name, std::int64_t value, std::optional<std::int64_t> replica = {}) {
        const auto pushed = board.push("uid-1", policy, {0, 10}, {name, replica, value}, now);
        return pushed.ok() ? "" : pushed.error().text();
    }
    [[nodiscard]] std::optional<MetricReading> read(std::size_t metric, std::string_view uid = "uid-1") const {
        return board.read(uid, policy.metrics[metric], now);
    }

    ScalingPolicy policy;
    MetricBoard board;
    Instant now{1'000'000'000'000};
};

} // namespace

TEST_CASE("rs R-112 a value counts until it is too old, and is of one life of a Deployment") {
    Board one;
    CHECK_FALSE(one.read(0));
    CHECK(one.push("latency", 250).empty());
    CHECK(one.read(0)->sum == 250);
    CHECK_FALSE(one.read(0)->replicas);
    CHECK_FALSE(one.read(1));
    CHECK_FALSE(one.read(0, "uid-2"));
    one.now = one.now + 90s;
    CHECK(one.read(0));
    one.now = one.now + 1ms;
    CHECK_FALSE(one.read(0));
    CHECK(one.push("latency", 300).empty());
    CHECK(one.read(0)->sum == 300);
}

TEST_CASE("rs R-114 values of replicas are summed and counted, the fresh ones alone") {
    Board one;
    CHECK(one.push("load", 100, 0).empty());
    CHECK(one.push("load", 100, 1).empty());
    one.now = one.now + 60s;
    CHECK(one.push("load", 500, 1).empty());
    CHECK(one.read(1)->sum == 600);
    CHECK(one.read(1)->replicas == 2);
    one.now = one.now + 60s;
    CHECK(one.read(1)->sum == 500);
    CHECK(one.read(1)->replicas == 1);
    CHECK(one.push("load", 900).empty()); // of the whole
    CHECK(one.read(1)->sum == 900);
    CHECK_FALSE(one.read(1)->replicas);
    CHECK(one.push("load", 7, 3).empty());
    CHECK(one.read(1)->sum == 7);
}

TEST_CASE("rs R-114 values of replicas say nothing once the metric is one of the whole") {
    Board one;
    CHECK(one.push("load", 100, 0).empty());
    one.policy.metrics[1].type = MetricType::Value;
    CHECK_FALSE(one.read(1));
    CHECK(one.push("load", 300).empty());
    CHECK(one.read(1)->sum == 300);
}

TEST_CASE("rs R-112, rs R-159 a value of nothing that the policy has is refused, and nothing is kept of it") {
    Board one;
    CHECK(one.push("speed", 1) == "name: 'speed' is no metric of the Deployment's policy");
    CHECK(one.push("load", -1) == "value: must not be below 0");
    CHECK(one.push("load", 1, 10) == "replica: must be at least 0 and below the Deployment's max of 10");
    CHECK(one.push("load", 1, -1) == "replica: must be at least 0 and below the Deployment's max of 10");
    CHECK(one.push("latency", 1, 0) ==
          "replica: a metric of type value has one value of the whole; leave the replica out");
    CHECK(one.board.size() == 0);
}

TEST_CASE("rs R-112 what a changed policy does not have is forgotten, and so is a Deployment that went") {
    Board one;
    CHECK(one.push("load", 1).empty());
    CHECK(one.push("latency", 1).empty());
    ScalingPolicy changed = one.policy;
    changed.metrics.pop_back();
    one.board.keep_only("uid-1", &changed);
    CHECK(one.read(0));
    CHECK_FALSE(one.read(1));
    one.board.keep_only("uid-1", nullptr);
    CHECK(one.board.size() == 0);
    one.board.keep_only("uid-1", &changed);
    CHECK(one.board.size() == 0);
}

} // namespace yk::testing
