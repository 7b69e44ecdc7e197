// SPDX-License-Identifier: Apache-2.0
// preemption-gang-priority.md 3.2, 3.6 to 3.8: when an attempt is made, the victims on a node, the node, the commit.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"
#include "tests/unit/libcore/preemption/starved.h"

namespace yk::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// Leaf c2 with a guarantee for application `x`, leaf c1 without for `v`.
Cluster starved_beside(const std::string& guaranteed, const std::string& c1 = {}) {
    return Cluster{fmt::format("[{{name: c2, resources: {{guaranteed: {{{}}}}}}}, {{name: c1{}}}]", guaranteed,
                               c1.empty() ? "" : ", resources: {" + c1 + "}")};
}

Cluster& applications(Cluster& c) {
    return c.application("x", "root.c2").application("v", "root.c1");
}

std::string log_of(Cluster& c, const std::string& key) {
    for (const AskView& ask : c.app("x").asks)
        if (ask.key == key && !ask.log.empty()) return ask.log.back().message;
    return {};
}

} // namespace

// --- when (3.2) -----------------------------------------------------------------------------------------------------

TEST_CASE("P-020 P-023 EX-P20 not before the delay, then once in 15 s") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}, properties: {preemption.delay: 1s}}, {name: c1, "
              "properties: {preemption.policy: disabled}}]"};
    applications(c.nodes(1, "memory:4")).victim("v", "v", "memory:4", "n-0", 1);
    c.ask("x", "k", "memory:4", "other=1").advance(milliseconds{999}).cycles(2);
    CHECK(log_of(c, "k") == "preemption preconditions failed"); // nothing but this entry follows (P-024)
    c.advance(milliseconds{1}).cycles(1);
    CHECK(log_of(c, "k") == "preemption does not help");
    c.configure("[{name: c2, resources: {guaranteed: {memory: 4}}, properties: {preemption.delay: 1s}}, {name: c1}]");
    c.advance(milliseconds{14999}).cycles(2);
    CHECK(c.preempted() == ""); // a victim is there, but the last attempt was less than 15 s ago
    c.advance(milliseconds{1}).cycles(1);
    CHECK(c.preempted() == "v");
}

TEST_CASE("P-023 an ask that may not preempt others does not") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(1, "memory:4")).victim("v", "v", "memory:4", "n-0", 1);
    c.ask("x", "k", "memory:4", "tags=creationTime:1000").advance(minutes{2}).cycles(3);
    CHECK(c.preempted() == "");
    c.ask("x", "k", "memory:4", kOther).cycles(1); // the same ask, with another policy
    CHECK(c.preempted() == "v");
}

TEST_CASE("P-010 the switch of the partition turns it off and on again") {
    const std::string queues = "[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]";
    Cluster c{queues, "", "preemption: {enabled: false}"};
    applications(c.nodes(1, "memory:4")).victim("v", "v", "memory:4", "n-0", 1);
    c.ask("x", "k", "memory:4", kOther).cycles(3);
    CHECK(c.preempted() == "");
    c.configure(queues);
    c.cycles(1);
    CHECK(c.preempted() == "v");
}

TEST_CASE("P-012 a shorter delay counts at once") {
    constexpr const char* queues =
        "[{{name: c2, resources: {{guaranteed: {{memory: 4}}}}, properties: {{preemption.delay: "
        "{}}}}}, {{name: c1}}]";
    Cluster c{fmt::format(queues, "1h")};
    applications(c.nodes(1, "memory:4")).victim("v", "v", "memory:4", "n-0", 1);
    c.ask("x", "k", "memory:4", "other=1").advance(minutes{1}).cycles(2);
    CHECK(c.preempted() == "");
    c.configure(fmt::format(queues, "30s"));
    c.cycles(1);
    CHECK(c.preempted() == "v");
}

TEST_CASE("P-020 an ask that waits only for nodes attempts, too (B), after its ordinary reservation (P-021)") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}, properties: {preemption.delay: 1s}}, {name: c1}]"};
    applications(c.node("spare", "memory:9", "createdrain").nodes(2, "memory:4"));
    c.victim("v", "v0", "memory:3", "n-0", 1).victim("v", "v1", "memory:4", "n-1", 2, "originator=1");
    c.ask("x", "k", "memory:4", "other=1").advance(seconds{3}).cycles(1);
    CHECK(c.preempted() == "");
    CHECK(c.reserved_on("n-0") == "k");
    c.cycles(1);
    CHECK(c.preempted() == "v0");
    CHECK(c.reserved_on("n-0") == "k");
}

TEST_CASE("P-021 a successful attempt on another node moves the reservation") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}, properties: {preemption.delay: 1s}}, {name: c1}]"};
    applications(c.node("spare", "memory:9", "createdrain").nodes(2, "memory:4"));
    c.victim("v", "v0", "memory:3", "n-0", 1, "originator=1").victim("v", "v1", "memory:4", "n-1", 2);
    c.ask("x", "k", "memory:4", "other=1").advance(seconds{3}).cycles(1);
    CHECK(c.reserved_on("n-0") == "k");
    c.cycles(1);
    CHECK(c.preempted() == "v1");
    CHECK(c.reserved_on("n-0") == "");
    CHECK(c.reserved_on("n-1") == "k");
}

TEST_CASE("P-022 at most 10 attempts per leaf and cycle, the others follow in the next") {
    Cluster c = starved_beside("memory: 4", "guaranteed: {memory: 100}");
    applications(c.nodes(1, "memory:4")).victim("v", "v", "memory:4", "n-0", 1);
    for (int i = 0; i < 25; ++i) c.ask("x", fmt::format("k{:02}", i), "memory:1", kOther);
    const auto tried = [&] {
        int count = 0;
        for (int i = 0; i < 25; ++i) count += log_of(c, fmt::format("k{:02}", i)) == "preemption does not help" ? 1 : 0;
        return count;
    };
    c.cycles(1);
    CHECK(tried() == 10);
    CHECK(log_of(c, "k10") == "preemption attempts exhausted");
    c.cycles(1);
    CHECK(tried() == 20);
    c.cycles(5);
    CHECK(tried() == 25);
    for (const AskView& ask : c.app("x").asks) CHECK(ask.log.back().count == 1);
}

TEST_CASE("P-024 P-025 a failed attempt changes nothing but the log") {
    Cluster c = starved_beside("memory: 4", "guaranteed: {memory: 4}");
    applications(c.nodes(1, "memory:4")).victim("v", "v", "memory:4", "n-0", 1);
    c.notices();
    c.ask("x", "k", "memory:4", kOther).cycles(3);
    CHECK(log_of(c, "k") == "preemption does not help");
    CHECK(c.preempted() == "");
    CHECK(c.partition().reservations == 0);
    CHECK(c.notices() == Lines{"application x is Accepted"});
    CHECK(!c.app("x").asks.front().triggered_preemption);
}

TEST_CASE("P-020 the attempt comes in the ask's place in the order: one before it is placed first") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(2, "memory:4")).victim("v", "v", "memory:4", "n-0", 1);
    c.ask("x", "large", "memory:5", kOther).ask("x", "k", "memory:4", "prio=-1").cycles(1);
    CHECK(c.node_of("x", "k") == "n-1"); // nobody can help `large`
    c.ask("x", "late", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == ""); // c2 has its guarantee
}

// --- victims on a node (3.6) ----------------------------------------------------------------------------------------

TEST_CASE("P-052 EX-P14 D-30 no victim sinks its queue below its guarantee") {
    for (const int guaranteed : {5, 3}) {
        Cluster c = starved_beside("memory: 3", fmt::format("guaranteed: {{memory: {}}}", guaranteed));
        applications(c.nodes(1, "memory:6"))
            .victim("v", "v1", "memory:3", "n-0", 1)
            .victim("v", "v2", "memory:3", "n-0", 2);
        c.ask("x", "k", "memory:3", kOther).cycles(1);
        CHECK(c.preempted() == (guaranteed == 5 ? "" : "v2"));
    }
}

TEST_CASE("P-052 the guarantee of a parent of the victim's leaf counts, too") {
    Cluster c{
        "[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: p, resources: {guaranteed: {memory: 3}}, queues: "
        "[{name: c1}, {name: c3, resources: {guaranteed: {memory: 1}}}]}]"};
    c.application("x", "root.c2").application("v", "root.p.c1").application("w", "root.p.c3");
    c.nodes(1, "memory:4").victim("v", "v1", "memory:1", "n-0", 1).victim("v", "v2", "memory:1", "n-0", 2);
    c.victim("w", "w1", "memory:2", "n-0", 3).ask("x", "two", "memory:2", kOther).cycles(1);
    CHECK(c.preempted() == ""); // p would fall to 2
    c.ask("x", "one", "memory:1", kOther).cycles(1);
    CHECK(c.preempted() == "v2");
}

TEST_CASE("P-053 EX-P15 D-31 a victim that is too large is passed over, smaller ones are found") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(1, "memory:10"))
        .victim("v", "vA", "memory:6", "n-0", 3)
        .victim("v", "vB", "memory:2", "n-0", 2);
    c.victim("v", "vC", "memory:2", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == "vB vC");
}

TEST_CASE("P-054 EX-P16 D-32 what is free on the node counts") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(1, "memory:4"))
        .victim("v", "v", "memory:2", "n-0", 1)
        .ask("x", "k", "memory:4", kOther)
        .cycles(1);
    CHECK(c.preempted() == "v");
}

TEST_CASE("P-051 EX-P17 order: normal before originator before opted out, newer first") {
    const std::vector<std::string> expected{"b", "a b", "a b c", "a b c d"};
    for (int size = 1; size <= 4; ++size) {
        Cluster c = starved_beside("memory: 4");
        applications(c.nodes(1, "memory:4"))
            .victim("v", "a", "memory:1", "n-0", 10)
            .victim("v", "b", "memory:1", "n-0", 20);
        c.victim("v", "c", "memory:1", "n-0", 30, "originator=1");
        c.existing("v", "d", "memory:1", "n-0", "tags=creationTime:40");
        c.ask("x", "k", fmt::format("memory:{}", size), kOther).cycles(1);
        CHECK(c.preempted() == expected[static_cast<std::size_t>(size) - 1]);
    }
}

TEST_CASE("P-051 D-39 lower priority goes before newer") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(1, "memory:2")).victim("v", "old", "memory:1", "n-0", 10, "prio=0");
    c.victim("v", "new", "memory:1", "n-0", 20, "prio=100")
        .ask("x", "k", "memory:1", "prio=200 other=1 tags=creationTime:9");
    c.cycles(1);
    CHECK(c.preempted() == "old");
}

TEST_CASE("P-054 EX-P19 D-32 with several types all of them have to be covered") {
    Cluster c = starved_beside("vcore: 2m");
    applications(c.nodes(1, "vcore:2,memory:400")).victim("v", "v1", "vcore:1,memory:200", "n-0", 1);
    c.victim("v", "v2", "vcore:1,memory:200", "n-0", 2).ask("x", "k", "vcore:2,memory:100", kOther).cycles(1);
    CHECK(c.preempted() == "v1 v2");
}

TEST_CASE("P-044 foreign allocations, and such with a required node, stay") {
    Cluster c = starved_beside("memory: 3");
    applications(c.nodes(1, "memory:3"));
    c.play("alloc place key=f res=memory:1 node=n-0 tags=foreign:default");
    c.existing("v", "bound", "memory:1", "n-0", "self=1 tags=yunikorn.apache.org/requiredNode:n-0");
    c.victim("v", "v", "memory:1", "n-0", 1).ask("x", "k2", "memory:2", kOther).cycles(2);
    CHECK(c.preempted() == "");
    c.ask("x", "k1", "memory:1", kOther).cycles(2);
    CHECK(c.preempted() == "v");
}

TEST_CASE("P-050 a node that is drained, or kept for another ask, takes no part") {
    Cluster c = starved_beside("memory: 8");
    applications(c.nodes(3, "memory:4"));
    for (int i = 0; i < 3; ++i) c.victim("v", fmt::format("v{}", i), "memory:4", fmt::format("n-{}", i), i + 1);
    c.play("nodes drain id=n-0");
    c.ask("x", "k0", "memory:4", kOther).ask("x", "k1", "memory:4", kOther).cycles(2);
    CHECK(c.preempted() == "v1 v2");
    CHECK(c.reserved_on("n-1") == "k0");
    CHECK(c.reserved_on("n-2") == "k1");
}

TEST_CASE("P-050 D-38 a reservation older than 60 min of lower priority gives way, with all its counts") {
    for (const bool old : {true, false}) {
        Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}, {name: c3, resources: {max: {memory: "
                  "9}}}]"};
        c.application("x", "root.c2").application("v", "root.c1").application("r", "root.c3");
        c.node("spare", "memory:9", "createdrain").nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1);
        c.ask("r", "stale", "memory:3", "tags=creationTime:1000").cycles(1);
        CHECK(c.reserved_on("n-0") == "stale");
        c.advance(minutes{60} + milliseconds{old ? 1 : 0});
        c.ask("x", "k", "memory:4", "prio=1 other=1 tags=creationTime:1000").cycles(1);
        CHECK(c.preempted() == (old ? "v" : ""));
        CHECK(c.reserved_on("n-0") == (old ? "k" : "stale"));
        CHECK(c.partition().reservations == 1);
        CHECK(c.app("r").reservations.size() == (old ? 0 : 1));
    }
}

TEST_CASE("P-050 D-38 it gives way to an ask of its own application, too") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 8}}}, {name: c1}]"};
    c.application("x", "root.c2").application("v", "root.c1");
    c.node("spare", "memory:9", "createdrain").nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1);
    c.ask("x", "stale", "memory:3", "tags=creationTime:1000").cycles(1);
    CHECK(c.reserved_on("n-0") == "stale");
    c.advance(minutes{60} + milliseconds{1});
    c.ask("x", "k", "memory:4", "prio=1 other=1 tags=creationTime:1000").cycles(1);
    CHECK(c.preempted() == "v");
    CHECK(c.reserved_on("n-0") == "k");
    CHECK(c.app("x").reservations.size() == 1);
}

// --- the node and the queues (3.7, 3.8) -----------------------------------------------------------------------------

TEST_CASE("P-060 EX-P10 one victim, on the first of equal nodes; marked until it is confirmed") {
    Cluster c{
        "[{name: p, resources: {guaranteed: {memory: 10}}, queues: [{name: c1, resources: {guaranteed: {memory: 5}}}, "
        "{name: c2, resources: {guaranteed: {memory: 5}}, properties: {preemption.delay: 1s}}]}]"};
    c.nodes(2, "memory:5,pods:1").application("v", "root.p.c1").application("x", "root.p.c2");
    c.victim("v", "v1", "memory:5,pods:1", "n-0", 1).victim("v", "v2", "memory:5,pods:1", "n-1", 2);
    c.ask("x", "k", "memory:5,pods:1", "other=1").advance(seconds{1}).notices();
    CHECK(c.cycles(1) == 0);
    CHECK(c.preempted() == "v1");
    CHECK(c.notices() == Lines{"released v/v1: PREEMPTED_BY_SCHEDULER"});
    CHECK(c.reserved_on("n-0") == "k");
    const ResourceMapView both{{"memory", 5}, {"pods", 1}};
    for (const char* queue : {"root.p.c1", "root.p", "root"}) CHECK(c.queue(queue).preempting == both);
    CHECK(c.queue("root.p.c2").preempting.empty());
    CHECK(c.app("x").asks.front().triggered_preemption);
    c.advance(minutes{1}).cycles(3);
    CHECK(c.preempted() == "v1"); // nobody else
    c.release("v", "v1", 3).cycles(1);
    CHECK(c.node_of("x", "k") == "n-0");
    CHECK(c.queue("root").preempting.empty());
    CHECK(c.partition().reservations == 0);
}

TEST_CASE("P-050 EX-P11 an ask that no node can ever hold takes nobody") {
    Cluster c{
        "[{name: p, resources: {guaranteed: {memory: 11}}, queues: [{name: c1, resources: {guaranteed: {memory: 5}}}, "
        "{name: c2, resources: {guaranteed: {memory: 6}}, properties: {preemption.delay: 1s}}]}]"}; // as EX-P10
    c.nodes(2, "memory:5,pods:1").application("v", "root.p.c1").application("x", "root.p.c2");
    c.victim("v", "v1", "memory:5,pods:1", "n-0", 1).victim("v", "v2", "memory:5,pods:1", "n-1", 2);
    c.ask("x", "k", "memory:6,pods:1", "other=1").advance(seconds{1}).cycles(2);
    CHECK(c.preempted() == "");
    CHECK(log_of(c, "k") == "preemption does not help");
    CHECK(c.partition().reservations == 0);
}

TEST_CASE("P-055 P-070 EX-P12 the limit of a queue alone: the newest goes, the first node with room is kept") {
    Cluster c{
        "[{name: p, resources: {max: {memory: 10}}, queues: [{name: c1, resources: {guaranteed: {memory: 5}}}, {name: "
        "c2, resources: {guaranteed: {memory: 5}}}]}]"};
    c.nodes(2, "memory:10").application("v", "root.p.c1").application("x", "root.p.c2");
    c.victim("v", "v1", "memory:5", "n-0", 1).victim("v", "v2", "memory:5", "n-1", 2);
    c.ask("x", "k", "memory:5", kOther).cycles(1);
    CHECK(c.preempted() == "v2");
    CHECK(c.reserved_on("n-0") == "k");
    c.release("v", "v2", 3).cycles(1);
    CHECK(c.node_of("x", "k") == "n-0");
}

TEST_CASE("P-071 EX-P13 D-32 exactly as many extra victims as the limit needs, the newest") {
    Cluster c{"[{name: p, resources: {max: {memory: 18}}, queues: [{name: c1}, {name: c3}, {name: c2, resources: "
              "{guaranteed: {memory: 15}}}]}]"};
    c.nodes(2, "memory:30").application("v", "root.p.c1").application("w", "root.p.c3").application("x", "root.p.c2");
    c.victim("v", "v1", "memory:5", "n-0", 1).victim("v", "v2", "memory:5", "n-1", 2);
    c.victim("w", "v4", "memory:5", "n-1", 4).ask("x", "k", "memory:10", kOther).cycles(1);
    CHECK(c.preempted() == "v2 v4");
}

TEST_CASE("P-071 what falls short takes nobody") {
    Cluster c{
        "[{name: p, resources: {max: {memory: 10}}, queues: [{name: c1, resources: {guaranteed: {memory: 7}}}, {name: "
        "c2, resources: {guaranteed: {memory: 3}}}]}]"};
    c.nodes(2, "memory:10").application("v", "root.p.c1").application("x", "root.p.c2");
    c.victim("v", "v1", "memory:1", "n-0", 1).victim("v", "v2", "memory:8", "n-1", 2);
    c.ask("x", "k", "memory:3", kOther).cycles(1); // one of two
    CHECK(c.preempted() == "");
    CHECK(log_of(c, "k") == "preemption helps but falls short");
}

TEST_CASE("P-071 EX-P21 victims of the node and of the queue together") {
    Cluster c{
        "[{name: p, resources: {max: {memory: 6}}, queues: [{name: c1}, {name: c2, resources: {guaranteed: {memory: "
        "5}}}]}]"};
    c.nodes(2, "memory:5").application("v", "root.p.c1").application("x", "root.p.c2");
    c.victim("v", "a", "memory:2", "n-0", 1).victim("v", "b", "memory:2", "n-1", 2);
    c.ask("x", "k", "memory:5", kOther).notices();
    c.cycles(1);
    CHECK(c.notices() ==
          Lines{"released v/a: PREEMPTED_BY_SCHEDULER, v/b: PREEMPTED_BY_SCHEDULER"}); // one message (P-072)
    CHECK(c.reserved_on("n-0") == "k");
    c.release("v", "b", 3).cycles(1);
    CHECK(c.allocations_of("x") == 0);
    c.release("v", "a", 3).cycles(1);
    CHECK(c.node_of("x", "k") == "n-0");
    CHECK(c.queue("root.p").allocated.at("memory") == 5);
}

TEST_CASE("P-060 P-061 D-33 a node with fewer victims, and one without originators, is preferred") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(3, "memory:4")).victim("v", "driver", "memory:4", "n-0", 9, "originator=1");
    c.victim("v", "a1", "memory:2", "n-1", 5).victim("v", "a2", "memory:2", "n-1", 6);
    c.victim("v", "b1", "memory:4", "n-2", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == "b1");
}

TEST_CASE("3.3 EX-P18 D-35 parallel asks do not take more than the guarantee leaves") {
    Cluster c = starved_beside("memory: 5");
    applications(c.nodes(4, "memory:5"));
    for (int i = 0; i < 4; ++i) c.victim("v", fmt::format("v{}", i), "memory:5", fmt::format("n-{}", i), i + 1);
    c.ask("x", "k1", "memory:5", kOther).ask("x", "k2", "memory:5", kOther).cycles(5);
    CHECK(c.preempted() == "v0");
    c.release("v", "v0", 3).cycles(3);
    CHECK(c.preempted() == "");
    CHECK(c.allocations_of("x") == 1);
}

// --- what follows (P-074 to P-081) ----------------------------------------------------------------------------------

TEST_CASE("P-072 the victim is told by whom") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(1, "memory:4")).victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther);
    c.notices_in_full();
    c.cycles(1);
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 1);
    CHECK_THAT(notices[0], Catch::StartsWith("released v/v: PREEMPTED_BY_SCHEDULER # ") &&
                               Catch::Contains("k from application x in root.c2"));
}

TEST_CASE("P-075 D-50 however a victim ends, preempting goes with it; a resize changes it by as much") {
    const auto run = [](const std::string& end) {
        Cluster c = starved_beside("memory: 4");
        applications(c.nodes(2, "memory:4"))
            .victim("v", "v", "memory:4", "n-0", 1)
            .victim("v", "w", "memory:4", "n-1", 2);
        c.ask("x", "k", "memory:4", kOther).cycles(1);
        CHECK(c.preempted() == "v");
        c.play("alloc place app=v key=v res=memory:2 node=n-0");
        CHECK(c.queue("root").preempting.at("memory") == 2);
        c.play(end);
        CHECK(c.queue("root").preempting.empty());
        CHECK(c.queue("root.c1").preempting.empty());
        return c.queue("root.c1").allocated;
    };
    const ResourceMapView left{{"memory", 4}};
    CHECK(run("alloc release app=v key=v type=3") == left);
    CHECK(run("alloc release app=v key=v type=1") == left);
    CHECK(run("alloc release app=v key=v type=2") == left);
    CHECK(run("nodes decommission id=n-0") == left);
    CHECK(run("apps remove id=v").empty());
}

TEST_CASE("P-075 P-078 a confirmation is not echoed, a second one is ignored, the time goes to preempted resources") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(1, "memory:4"))
        .victim("v", "v", "memory:4", "n-0", 1)
        .ask("x", "k", "memory:4", kOther)
        .cycles(1);
    c.advance(seconds{10}).notices();
    c.release("v", "v", 3);
    CHECK(c.notices() == Lines{"application v is Completing"}); // its last allocation went (P-078)
    CHECK(c.app("v").preempted_seconds.at("UNKNOWN").at("memory") == 40);
    c.release("v", "v", 3);
    CHECK(c.notices() == Lines{"ignored release of v/v: P_UNKNOWN_ALLOCATION"});
}

TEST_CASE("P-079 D-51 an ask that loses its reservation may preempt again") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(2, "memory:4")).victim("v", "v", "memory:4", "n-0", 1).victim("v", "w", "memory:4", "n-1", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == "v");
    c.play("nodes decommission id=n-0");
    CHECK(!c.app("x").asks.front().triggered_preemption);
    c.cycles(1);
    CHECK(c.preempted() == ""); // P-023: 15 s from the last attempt
    c.advance(seconds{15}).cycles(1);
    CHECK(c.preempted() == "w");
}

TEST_CASE("P-079 an ask still unplaced 15 s after its last victim went may preempt again") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(2, "memory:4")).victim("v", "v", "memory:4", "n-0", 1).victim("v", "w", "memory:4", "n-1", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    c.play("alloc place key=f res=memory:4 node=n-0 tags=foreign:default");
    c.release("v", "v", 3).advance(milliseconds{14999}).cycles(2);
    CHECK(c.app("x").asks.front().triggered_preemption);
    c.advance(milliseconds{1});
    CHECK(!c.app("x").asks.front().triggered_preemption);
    c.cycles(1);
    CHECK(c.preempted() == "w");
    CHECK(c.reserved_on("n-1") == "k");
}

TEST_CASE("P-081 the ask goes: its reservation goes, the victim goes all the same") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(1, "memory:4"))
        .victim("v", "v", "memory:4", "n-0", 1)
        .ask("x", "k", "memory:4", kOther)
        .cycles(1);
    c.release("x", "k");
    CHECK(c.partition().reservations == 0);
    CHECK(c.preempted() == "v");
    c.release("v", "v", 3);
    CHECK(c.queue("root").preempting.empty());
}

TEST_CASE("P-074 a required-node ask takes the node over") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(2, "memory:4")).victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther);
    c.victim("v", "w", "memory:3", "n-1", 2, "originator=1").cycles(1);
    CHECK(c.reserved_on("n-0") == "k");
    c.application("d", "root.c1").ask("d", "d", "memory:1", "tags=yunikorn.apache.org/requiredNode:n-0").cycles(1);
    CHECK(c.reserved_on("n-0") == "d");
    CHECK(!c.app("x").asks.front().triggered_preemption);
}

TEST_CASE("P-077 the ask is placed elsewhere when there is room before its victim is gone") {
    Cluster c = starved_beside("memory: 4");
    applications(c.nodes(1, "memory:4"))
        .victim("v", "v", "memory:4", "n-0", 1)
        .ask("x", "k", "memory:4", kOther)
        .cycles(1);
    c.node("n-9", "memory:4").cycles(1);
    CHECK(c.node_of("x", "k") == "n-9");
    CHECK(c.partition().reservations == 0);
    CHECK(c.preempted() == "v"); // announced once (P-131)
}

TEST_CASE("P-008 placeholders are victims, and may trigger") {
    Cluster c = starved_beside("memory: 4");
    c.application("x", "root.c2");
    c.application("v", "root.c1").nodes(1, "memory:4").victim("v", "p", "memory:4", "n-0", 1, "placeholder=1 group=g");
    c.ask("x", "k", "memory:4", "placeholder=1 group=h other=1 tags=creationTime:1000").cycles(1);
    CHECK(c.preempted() == "p");
    c.release("v", "p", 3).cycles(1);
    CHECK(c.allocations_of("x") == 1);
}

} // namespace yk::testing
