// SPDX-License-Identifier: Apache-2.0
// preemption-gang-priority.md 3.9: required-node preemption.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::seconds;

constexpr const char* kOff = "preemption: {enabled: false}";
constexpr const char* kOnN0 = "tags=yunikorn.apache.org/requiredNode:n-0";

/// n-0 of `size`, and an empty node that gives headroom; victims in b, daemons in a.
Cluster daemons(const std::string& size, const std::string& partition = {}) {
    Cluster c{
        "[{name: a}, {name: b, properties: {preemption.policy: disabled}, resources: {guaranteed: {memory: 99}}}]", "",
        partition};
    c.node("n-0", size).node("n-9", "memory:10").application("d", "root.a").application("v", "root.b");
    return c;
}

} // namespace

TEST_CASE("P-090 P-093 P-010 EX-P30 EX-P34 reserve first, then the victim, then the ask; no more than it is short of") {
    Cluster c =
        daemons("memory:10", GENERATE(as<std::string>{}, "", kOff)); // no switch, no policy, no guarantee keeps it off
    c.victim("v", "a", "memory:4", "n-0", 1).victim("v", "b", "memory:4", "n-0", 2).ask("d", "d", "memory:4", kOnN0);
    c.notices();
    c.cycles(1);
    CHECK(c.reserved_on("n-0") == "d");
    CHECK(c.preempted() == "");
    c.cycles(1);
    CHECK(c.preempted() == "b");
    CHECK(c.queue("root.b").preempting.at("memory") == 4);
    CHECK(c.app("d").asks.front().triggered_preemption);
    c.cycles(3);
    CHECK(c.preempted() == "b");
    c.release("v", "b", 3).cycles(1);
    CHECK(c.node_of("d", "d") == "n-0");
    CHECK(c.partition().reservations == 0);
    CHECK(c.notices() ==
          Lines{"released v/b: PREEMPTED_BY_SCHEDULER", "application d is Running", "allocated d/d on n-0"});
}

TEST_CASE("P-094 P-095 EX-P31 EX-P34 lower priority first, higher than the ask's never") {
    Cluster c = daemons("memory:10", GENERATE(as<std::string>{}, "", kOff));
    c.victim("v", "a", "memory:4", "n-0", 1, "prio=0").victim("v", "b", "memory:4", "n-0", 2, "prio=10");
    c.ask("d", "d", "memory:4", std::string(kOnN0) + " prio=5").cycles(2);
    CHECK(c.preempted() == "a");
}

TEST_CASE("P-097 EX-P31 EX-P34 nobody may go: the ask stays reserved, says why, and is tried again") {
    Cluster c = daemons("memory:10", GENERATE(as<std::string>{}, "", kOff));
    c.victim("v", "a", "memory:4", "n-0", 1, "prio=10").victim("v", "b", "memory:4", "n-0", 2, "prio=10");
    c.ask("d", "d", "memory:4", std::string(kOnN0) + " prio=5").cycles(1);
    c.cycles(3);
    CHECK(c.preempted() == "");
    CHECK(c.reserved_on("n-0") == "d");
    CHECK(c.app("d").asks.front().log.back().message == "no victim on the required node");
    const auto events = c.ask_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].find("no preemption victim found") != std::string::npos);
    c.release("v", "b").cycles(1); // the node changes, it is tried again and fits
    CHECK(c.node_of("d", "d") == "n-0");
}

TEST_CASE("P-095 EX-P32 EX-P34 who opted out is spared although newer") {
    Cluster c = daemons("memory:10", GENERATE(as<std::string>{}, "", kOff));
    c.existing("v", "a", "memory:4", "n-0", "tags=creationTime:9").victim("v", "b", "memory:4", "n-0", 2);
    c.ask("d", "d", "memory:4", kOnN0).cycles(2);
    CHECK(c.preempted() == "b");
    c.release("v", "b", 3).ask("d", "d2", "memory:4", kOnN0).cycles(3);
    CHECK(c.preempted() == "a"); // the last resort, not out of reach (P-001)
}

TEST_CASE("P-095 opted out after normal ones, originators last; then newer, then smaller") {
    Cluster c = daemons("memory:9");
    c.victim("v", "normal", "memory:1", "n-0", 1).existing("v", "out", "memory:1", "n-0", "tags=creationTime:9");
    c.victim("v", "driver", "memory:1", "n-0", 8, "originator=1")
        .existing("v", "both", "memory:1", "n-0", "originator=1 tags=creationTime:9");
    c.victim("v", "large", "memory:3", "n-0", 5).victim("v", "small", "memory:2", "n-0", 5);
    std::string order;
    for (const int size : {2, 3, 1, 1, 1, 1}) {
        const std::string key = fmt::format("d{}", order.size());
        c.ask("d", key, fmt::format("memory:{}", size), kOnN0).cycles(2);
        order += (order.empty() ? "" : " ") + c.preempted();
        c.release("v", c.preempted(), 3).cycles(1);
        CHECK(c.node_of("d", key) == "n-0");
    }
    CHECK(order == "small large normal out both driver");
}

TEST_CASE("P-091 EX-P33 EX-P34 an ordinary reservation on the node is gone after the first try") {
    Cluster c = daemons("memory:8", GENERATE(as<std::string>{}, "", kOff));
    c.victim("v", "a", "memory:8", "n-0", 1).application("o", "root.a");
    c.victim("v", "z", "memory:8", "n-9", 1, "prio=99").ask("o", "o", "memory:2", "tags=creationTime:1");
    c.node("spare", "memory:9", "createdrain").ask("o", "p", "memory:4", "tags=creationTime:1").cycles(3);
    const std::string before = c.reserved_on("n-0");
    CHECK(!before.empty());
    c.ask("d", "d", "memory:4", kOnN0).cycles(1);
    CHECK(c.reserved_on("n-0") == "d");
}

TEST_CASE("P-096 D-45 a free part of the node counts, and nobody who is not needed goes") {
    Cluster c = daemons("memory:10");
    c.victim("v", "one", "memory:1", "n-0", 3)
        .victim("v", "six", "memory:6", "n-0", 2)
        .victim("v", "two", "memory:2", "n-0", 1);
    c.ask("d", "d", "memory:7", kOnN0).cycles(2); // free 1, short 6: `one` first, then `six` alone is enough
    CHECK(c.preempted() == "six");
}

TEST_CASE("P-096 D-45 what is too little takes nobody") {
    Cluster c = daemons("memory:10");
    c.victim("v", "a", "memory:4", "n-0", 1).victim("v", "b", "memory:4", "n-0", 2, "prio=9");
    c.ask("d", "d", "memory:7", kOnN0).cycles(4);
    CHECK(c.preempted() == "");
}

TEST_CASE("P-096 two daemons on one node: each takes its own victims, also the ask's own application gives") {
    Cluster c = daemons("memory:8");
    c.victim("d", "a", "memory:4", "n-0", 1).victim("v", "b", "memory:4", "n-0", 2);
    c.ask("d", "d1", "memory:4", kOnN0).ask("d", "d2", "memory:4", kOnN0).cycles(2);
    CHECK(c.reserved_on("n-0") == "d1 d2");
    c.cycles(1);
    CHECK(c.preempted() == "a b");
    c.release("v", "b", 3).release("d", "a", 3).cycles(2);
    CHECK(c.placed("d") == "d1 d2");
}

TEST_CASE("P-096 what leaves for nobody any more is counted: no second victim") {
    Cluster c = daemons("memory:8");
    c.victim("v", "a", "memory:4", "n-0", 1)
        .victim("v", "b", "memory:4", "n-0", 2)
        .ask("d", "d1", "memory:4", kOnN0)
        .cycles(2);
    CHECK(c.preempted() == "b");
    c.release("d", "d1").ask("d", "d2", "memory:4", kOnN0).cycles(3);
    CHECK(c.preempted() == "b");
    c.release("v", "b", 3).cycles(1);
    CHECK(c.node_of("d", "d2") == "n-0");
}

TEST_CASE("P-099 P-079 D-51 a daemon that lost its reservation may choose again") {
    Cluster c = daemons("memory:8");
    c.victim("v", "a", "memory:8", "n-0", 1).ask("d", "d", "memory:4", kOnN0).cycles(2);
    CHECK(c.preempted() == "a");
    c.play("nodes decommission id=n-0");
    CHECK(!c.app("d").asks.front().triggered_preemption);
    c.node("n-0", "memory:8").victim("v", "w", "memory:8", "n-0", 1).cycles(2);
    CHECK(c.preempted() == "w");
}

TEST_CASE("P-099 the reservation of a daemon never gets too old, and no other node will do") {
    Cluster c = daemons("memory:8");
    c.existing("v", "a", "memory:8", "n-0", "prio=99");
    c.ask("d", "d", "memory:4", kOnN0).cycles(2);
    CHECK(c.reserved_on("n-0") == "d");
    c.advance(std::chrono::hours{3}).cycles(3);
    CHECK(c.reserved_on("n-0") == "d");
    CHECK(c.node_of("d", "d").empty());
    CHECK(c.release("v", "a").cycles(1) == 1);
    CHECK(c.node_of("d", "d") == "n-0");
}

} // namespace yk::testing
