// SPDX-License-Identifier: Apache-2.0
// What the partition notes for later does not pile up when that later never comes, or comes after days.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"
#include "tests/support/partition_access.h"

namespace yk::testing {

namespace {

using std::chrono::seconds;

const PartitionState& state_of(Cluster& c) {
    return c.core().find_partition("default")->state();
}

std::size_t listed_unreported(Cluster& c) {
    return PartitionAccess::listed_unreported(*c.core().find_partition("default"));
}

} // namespace

TEST_CASE("S-114 asks that are all placed at once leave nothing behind") {
    Cluster c;
    c.nodes(1, "vcore:8").application("app");
    for (int i = 0; i < 3000; ++i) {
        c.ask("app", "k", "vcore:1");
        REQUIRE(c.cycles(1) == 1);
        c.release("app", "k");
    }
    CHECK(listed_unreported(c) <= 1024);
}

TEST_CASE("S-114 those that wait meanwhile are still noted, in the order of their coming") {
    Cluster c{"[{name: a, resources: {max: {vcore: 1m}}}, {name: b}]"};
    c.nodes(1, "vcore:8").application("waits").application("runs", "root.b");
    c.ask("waits", "first", "vcore:2").ask("waits", "second", "vcore:3");
    for (int i = 0; i < 3000; ++i) {
        c.ask("runs", "k", fmt::format("vcore:{}", i % 7 + 1));
        c.release("runs", "k");
    }
    CHECK(listed_unreported(c) <= 1026);
    c.cycles(1);
    CHECK(c.reasons("waits", "first") != "");
    const auto events = c.ask_events();
    REQUIRE(events.size() == 2);
    CHECK(events[0].find("'first' does not fit in queue") != std::string::npos);
    CHECK(events[1].find("'second' does not fit in queue") != std::string::npos);
}

TEST_CASE("S-153 timers of what is forgotten meanwhile do not wait for their time") {
    Cluster c;
    for (int i = 0; i < 3000; ++i) c.play("apps new id=refused queue=root.nowhere"); // each replaces the one before
    c.advance(seconds{10});                                                          // the next timer of any kind
    CHECK(state_of(c).ended.rejected().size() == 1);
    CHECK(state_of(c).timers.size() < 1024);
    c.advance(std::chrono::hours{71});
    CHECK(state_of(c).ended.rejected().size() == 1);
    c.advance(std::chrono::hours{25}); // expired and purged
    CHECK(state_of(c).ended.rejected().empty());
}

TEST_CASE("S-152 G-022 timers of applications that are gone do not wait for their time") {
    Cluster c;
    c.nodes(1, "vcore:8");
    for (int i = 0; i < 3000; ++i) {
        c.play("apps new id=app queue=root.a gang=vcore:1 timeout=86400000");
        c.ask("app", "ph", "vcore:1", "placeholder=1 group=g");
        REQUIRE(c.cycles(1) == 1);
        c.remove("app");
    }
    c.advance(seconds{10});
    CHECK(state_of(c).timers.size() < 1024);
}

} // namespace yk::testing
