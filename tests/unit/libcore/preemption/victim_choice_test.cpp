// SPDX-License-Identifier: Apache-2.0
// Who is chosen as a victim, and by which settings (D-12, D-52, section 5 no. 6 to 9 and 14).

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "tests/support/cluster.h"
#include "tests/unit/libcore/preemption/starved.h"

namespace yk::testing {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

AskView ask_of(Cluster& c, const std::string& key) {
    for (const AskView& ask : c.app("x").asks)
        if (ask.key == key) return ask;
    return {};
}

} // namespace

TEST_CASE("D-12 an application that ended leaves nothing that preemption could meet") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}, {name: old}]"};
    c.nodes(1, "memory:4").application("x", "root.c2").application("v", "root.old");
    c.victim("v", "v", "memory:4", "n-0", 1).release("v", "v").advance(minutes{1});
    REQUIRE(c.state_of("v") == "Completed");
    c.application("v", "root.c1").victim("v", "v", "memory:4", "n-0", 1); // the same names in another queue
    c.configure("[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]");
    c.advance(minutes{1}); // the first queue is gone
    REQUIRE(c.queue("root.old").state == "gone");
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == "v");
    CHECK(c.queue("root.c1").preempting.at("memory") == 4);
    c.release("v", "v", 3).cycles(1);
    CHECK(c.node_of("x", "k") == "n-0");
    CHECK(c.queue("root.c1").preempting.empty());
}

TEST_CASE("D-52 an ask without a preemption policy takes nobody and is taken after those that agreed") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.nodes(1, "memory:4").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "agreed", "memory:2", "n-0", 1);
    c.existing("v", "silent", "memory:2", "n-0", "tags=creationTime:9"); // newer
    c.ask("x", "k", "memory:2", "tags=creationTime:1000").advance(minutes{1}).cycles(3);
    CHECK(c.preempted() == "");
    c.ask("x", "k", "memory:2", kOther).cycles(1);
    CHECK(c.preempted() == "agreed");
}

TEST_CASE("P section 5 no. 6: the storm guard limits the victims per minute, the first decision always passes") {
    Cluster c = starved("memory: 9", "preemption.victims.perminute: 2");
    c.nodes(4, "memory:2");
    for (int i = 0; i < 8; ++i) c.victim("v", fmt::format("v{}", i), "memory:1", fmt::format("n-{}", i / 2), 1 + i);
    for (int i = 0; i < 4; ++i) c.ask("x", fmt::format("k{}", i), "memory:1", kOther);
    c.cycles(10);
    CHECK(c.preempted() == "v1 v3");
    CHECK(ask_of(c, "k2").last_preemption->result == "preemption victims per minute used up");
    c.advance(seconds{59}).cycles(3);
    CHECK(c.preempted() == "v1 v3");
    c.advance(seconds{20}).cycles(10);
    CHECK(c.preempted() == "v1 v3 v5 v7");
    CHECK(c.core().counters().victims == 4);
}

TEST_CASE("P section 5 no. 6: victims whose room the ask did not take are counted") {
    Cluster c = starved("memory: 8");
    c.nodes(2, "memory:4").victim("v", "v0", "memory:4", "n-0", 1).victim("v", "v1", "memory:4", "n-1", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    REQUIRE(c.preempted() == "v0");
    c.release("v", "v0", 3).cycles(1);
    CHECK(c.node_of("x", "k") == "n-0");
    CHECK(c.core().counters().victims == 1);
    CHECK(c.core().counters().victims_unused == 0);
    c.ask("x", "l", "memory:4", kOther).cycles(1);
    REQUIRE(c.preempted() == "v1");
    c.release("x", "l").release("v", "v1", 3).cycles(1);
    CHECK(c.core().counters().victims == 2);
    CHECK(c.core().counters().victims_unused == 1);
}

TEST_CASE(
    "P section 5 no. 7: with preemption.leastharm the lower priorities, then the shorter run, decide among equals") {
    for (const bool on : {false, true}) {
        CAPTURE(on);
        Cluster c = starved("memory: 4", on ? "preemption.leastharm: enabled" : "");
        c.nodes(3, "memory:4").victim("v", "v0", "memory:4", "n-0", 1, "prio=5");
        c.victim("v", "v1", "memory:4", "n-1", 1, "prio=2").advance(seconds{5});
        c.victim("v", "v2", "memory:4", "n-2", 1, "prio=2");
        c.ask("x", "k", "memory:4", std::string{kOther} + " prio=9").cycles(1);
        CHECK(c.preempted() == (on ? "v2" : "v0"));
    }
}

TEST_CASE("P section 5 no. 8: with preemption.charge ask a victim larger than the guarantee may go") {
    for (const bool on : {false, true}) {
        CAPTURE(on);
        Cluster c = starved("memory: 2", on ? "preemption.charge: ask" : "");
        c.nodes(1, "memory:8").victim("v", "v", "memory:8", "n-0", 1);
        c.ask("x", "k", "memory:2", kOther).cycles(1);
        CHECK(c.preempted() == (on ? "v" : ""));
    }
}

TEST_CASE(
    "P section 5 no. 9: an ask with a required node makes its room in a full cluster, within the configured maxima") {
    for (const bool limited : {false, true}) {
        CAPTURE(limited);
        Cluster c{fmt::format("[{{name: d{}}}, {{name: a}}]", limited ? ", resources: {max: {memory: 1}}" : "")};
        c.nodes(2, "memory:4").application("v").application("d", "root.d");
        c.victim("v", "v0", "memory:4", "n-0", 1).victim("v", "v1", "memory:4", "n-1", 1);
        c.ask("d", "k", "memory:2", "tags=yunikorn.apache.org/requiredNode:n-1").cycles(3);
        CHECK(c.preempted() == (limited ? "" : "v1"));
        CHECK(c.reserved_on("n-1") == (limited ? "" : "k"));
        if (limited) continue;
        c.release("v", "v1", 3).cycles(1);
        CHECK(c.node_of("d", "k") == "n-1");
    }
}

TEST_CASE("P section 5 no. 14: the same input gives the same victims, whatever was freed and made before") {
    std::string first;
    for (const int round : {0, 1}) {
        Cluster c = starved("memory: 8");
        c.nodes(3, "memory:4");
        if (round == 1) { // ids are used again in another order
            c.victim("v", "old0", "memory:1", "n-0", 1).victim("v", "old1", "memory:1", "n-1", 1);
            c.release("v", "old0").release("v", "old1");
        }
        for (int i = 0; i < 6; ++i) c.victim("v", fmt::format("v{}", i), "memory:2", fmt::format("n-{}", i % 3), 1);
        c.ask("x", "k", "memory:4", kOther).ask("x", "l", "memory:4", kOther).cycles(5);
        if (round == 0) first = c.preempted();
        CHECK(c.preempted() == first);
    }
    CHECK(first == "v0 v1 v3 v4");
}

} // namespace yk::testing
