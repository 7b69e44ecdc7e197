// SPDX-License-Identifier: Apache-2.0
// preemption-gang-priority.md 3.3 to 3.5: what is left of a guarantee, who may ask, where victims are looked for.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/preemption/candidates.h"
#include "libcore/preemption/guarantee.h"
#include "tests/support/cluster.h"
#include "tests/unit/libcore/preemption/starved.h"

namespace yk::testing {

namespace {

/// Rem(queue) for an ask in `leaf`, as text.
std::string remaining(Cluster& c, const std::string& leaf, const std::string& queue) {
    const PartitionState& state = c.core().find_partition("default")->state();
    const auto left = GuaranteeView{state, *state.queues.find(leaf)}.remaining(*state.queues.find(queue));
    return left ? state.named(*left).text() : "nil";
}

/// The fence root for the ask `app/key`.
std::string fence_of(Cluster& c, const std::string& app, const std::string& key) {
    const PartitionContext& partition = *c.core().find_partition("default");
    const Allocation& ask = partition.state().allocations[partition.state().find_ask(app, key)];
    const Application& owner = partition.state().applications[ask.application];
    return fence_root(*owner.queue, partition.state().resource_of(ask)).path;
}

} // namespace

TEST_CASE("P-030 EX-P1 own guarantee of the ask's leaf: shared ancestors do not count") {
    Cluster c{"[{name: p, resources: {guaranteed: {memory: 10}}, queues: [{name: c1, resources: {guaranteed: {memory: "
              "5}}}, {name: c2, resources: {guaranteed: {memory: 5}}}]}]"};
    c.nodes(1, "memory:10").application("v", "root.p.c1").victim("v", "v", "memory:10", "n-0", 1);
    CHECK(remaining(c, "root.p.c2", "root.p") == "nil");
    CHECK(remaining(c, "root.p.c2", "root.p.c2") == "map[memory:5]");
    CHECK(remaining(c, "root.p.c2", "root.p.c1") == "map[memory:-5]");
}

TEST_CASE("P-030 EX-P1 without one, the ancestor's guarantee applies to both sides") {
    Cluster c{"[{name: p, resources: {guaranteed: {memory: 10}}, queues: [{name: c1, resources: {guaranteed: {memory: "
              "5}}}, {name: c2}]}]"};
    c.nodes(1, "memory:10").application("v", "root.p.c1").victim("v", "v", "memory:10", "n-0", 1);
    CHECK(remaining(c, "root.p.c2", "root.p") == "map[memory:0]");
    CHECK(remaining(c, "root.p.c2", "root.p.c2") == "map[memory:0]");
    CHECK(remaining(c, "root.p.c2", "root.p.c1") == "map[memory:-5]");
}

TEST_CASE("P-031 EX-P2 a sibling without guarantee is protected by the parent's, unless the ask's leaf has its own") {
    constexpr const char* queues =
        "[{{name: p, resources: {{guaranteed: {{vcore: 10m}}}}, queues: [{{name: c1}}, {{name: "
        "c2{}}}]}}]";
    Cluster own{fmt::format(queues, ", resources: {guaranteed: {vcore: 1m}}")};
    own.nodes(1, "vcore:2").application("v", "root.p.c1").application("x", "root.p.c2");
    own.victim("v", "v1", "vcore:1", "n-0", 1).victim("v", "v2", "vcore:1", "n-0", 2);
    CHECK(remaining(own, "root.p.c2", "root.p.c1") == "nil");
    own.ask("x", "k", "vcore:1", kOther).cycles(1);
    CHECK(own.preempted() == "v2");

    Cluster shared{fmt::format(queues, "")};
    shared.nodes(1, "vcore:2").application("v", "root.p.c1").application("x", "root.p.c2");
    shared.victim("v", "v1", "vcore:1", "n-0", 1).victim("v", "v2", "vcore:1", "n-0", 2);
    CHECK(remaining(shared, "root.p.c2", "root.p.c1") == "map[vcore:8]");
    shared.ask("x", "k", "vcore:1", kOther).cycles(1);
    CHECK(shared.preempted() == "");
}

TEST_CASE("P-031 D-36 an ancestor is one by the tree, not by the beginning of its name") {
    Cluster c{"[{name: a, resources: {guaranteed: {memory: 2}}}, {name: ab, resources: {guaranteed: {memory: 4}}}]"};
    c.nodes(1, "memory:4").application("v", "root.a").application("x", "root.ab");
    c.victim("v", "v1", "memory:2", "n-0", 1).victim("v", "v2", "memory:2", "n-0", 2);
    CHECK(remaining(c, "root.ab", "root.a") == "map[memory:-2]"); // taken for an ancestor it would be nil
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == ""); // v1 is protected: only one of the two it needs may go
}

TEST_CASE("P-032 types without guarantee do not appear in what is left") {
    Cluster c{"[{name: a, resources: {guaranteed: {memory: 2}}}, {name: b}]"};
    c.nodes(1, "memory:4,vcore:4").application("v", "root.a").victim("v", "v1", "memory:1,vcore:3", "n-0", 1);
    CHECK(remaining(c, "root.b", "root.a") == "map[memory:1]");
    CHECK(remaining(c, "root.a", "root.b") == "nil");
}

TEST_CASE("P-040 EX-P3 an ask that the rest of the guarantee does not hold is not eligible") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 5}}}, {name: c1}]"};
    c.nodes(1, "memory:10").application("x", "root.c2").application("v", "root.c1");
    c.existing("x", "old", "memory:3", "n-0");
    for (int i = 0; i < 7; ++i) c.victim("v", fmt::format("v{}", i), "memory:1", "n-0", i + 1);
    c.ask("x", "three", "memory:3", kOther).cycles(2);
    CHECK(c.preempted() == "");
    const auto log = c.app("x").asks.front().log;
    REQUIRE(!log.empty());
    CHECK(log.back().message == "preemption does not satisfy guarantees");
    c.ask("x", "two", "memory:2", kOther).cycles(1);
    CHECK(c.preempted() == "v5 v6");
}

TEST_CASE("P-040 EX-P4 without any guarantee nothing is preempted, however full the cluster is") {
    Cluster c{"[{name: c2}, {name: c1}]"};
    c.nodes(1, "memory:2").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "v", "memory:2", "n-0", 1).ask("x", "k", "memory:1", kOther).cycles(3);
    CHECK(c.preempted() == "");
}

TEST_CASE("P-040 D-37 a guarantee of memory does not pay for vcore") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.nodes(1, "memory:10,vcore:2").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "v", "vcore:2", "n-0", 1).ask("x", "k", "vcore:1", kOther).cycles(3);
    CHECK(c.preempted() == "");
}

TEST_CASE("P-040 second form: a guarantee on a shared ancestor counts what its candidates would free") {
    Cluster c{"[{name: p, resources: {guaranteed: {memory: 4}}, queues: [{name: c1}, {name: c2}]}, {name: o}]"};
    c.nodes(1, "memory:8").application("v", "root.p.c1").application("x", "root.p.c2").application("o", "root.o");
    c.victim("v", "v1", "memory:4", "n-0", 1)
        .victim("v", "v2", "memory:2", "n-0", 2)
        .victim("o", "o1", "memory:2", "n-0", 3);
    CHECK(remaining(c, "root.p.c2", "root.p.c2") == "map[memory:-2]");
    c.ask("x", "k", "memory:2", kOther).cycles(1);
    CHECK(c.app("x").asks.front().log.back().message != "preemption does not satisfy guarantees");
}

TEST_CASE("P-041 P-042 EX-P5 the fence root: a fence, or the first queue that the ask would overrun") {
    Cluster c{"[{name: a, properties: {preemption.policy: Fence}, queues: [{name: a1, resources: {guaranteed: {memory: "
              "5}}}, {name: a2}]}, {name: b, resources: {max: {memory: 6}}, queues: [{name: b1}]}, {name: d}]"};
    c.nodes(1, "memory:20").application("a1", "root.a.a1").application("b1", "root.b.b1").application("d", "root.d");
    c.victim("b1", "v", "memory:4", "n-0", 1);
    c.ask("a1", "k", "memory:30").ask("b1", "three", "memory:3").ask("b1", "two", "memory:2").ask("d", "k", "memory:5");
    CHECK(fence_of(c, "d", "k") == "root");
    CHECK(fence_of(c, "b1", "three") == "root.b.b1"); // the max of a parent is one of the leaf, too
    CHECK(fence_of(c, "b1", "two") == "root");        // reaching a max is no overrun
    CHECK(fence_of(c, "a1", "k") == "root.a.a1");     // more than the cluster
}

TEST_CASE("P-007 P-014 EX-P5 only what is inside the fence; a fence elsewhere keeps nobody out") {
    for (const bool around_ask : {true, false}) {
        INFO("fence around the ask: " << around_ask);
        const std::string fence = "properties: {preemption.policy: fence}, ";
        Cluster c{"[{name: a, " + (around_ask ? fence : "") +
                  "queues: [{name: a1, resources: {guaranteed: {memory: 5}}}, {name: a2, resources: {guaranteed: "
                  "{memory: 0}}}]}, {name: b, " +
                  (around_ask ? "" : fence) + "resources: {guaranteed: {memory: 1}}}]"};
        c.nodes(1, "memory:15").application("x", "root.a.a1").application("a2", "root.a.a2").application("b", "root.b");
        c.victim("a2", "in", "memory:5", "n-0", 1);
        c.victim("b", "out1", "memory:5", "n-0", 2).victim("b", "out2", "memory:5", "n-0", 3);
        c.ask("x", "k", "memory:5", kOther).cycles(1);
        REQUIRE(c.app("x").asks.front().last_preemption);
        CHECK(c.app("x").asks.front().last_preemption->candidates == (around_ask ? 1 : 3));
        CHECK(c.preempted() == (around_ask ? "in" : "out2"));
    }
}

TEST_CASE("P-014 a fence on the ask's leaf turns queue preemption off for it") {
    Cluster c{"[{name: a, properties: {preemption.policy: fence}, resources: {guaranteed: {memory: 5}}}, {name: b}]"};
    c.nodes(1, "memory:4").application("x", "root.a").application("v", "root.b").victim("v", "v", "memory:4", "n-0", 1);
    c.ask("x", "k", "memory:4", kOther).cycles(2);
    CHECK(c.preempted() == "");
}

TEST_CASE("P-011 P-013 a disabled leaf gives nobody, its asks may take") {
    Cluster c{
        "[{name: a, properties: {preemption.policy: DISABLED}, resources: {guaranteed: {memory: 2}}}, {name: b}]"};
    c.nodes(1, "memory:4")
        .application("x", "root.a")
        .application("v", "root.b")
        .victim("v", "v1", "memory:2", "n-0", 1);
    c.victim("v", "v2", "memory:2", "n-0", 2).ask("x", "k", "memory:2", kOther).cycles(1);
    CHECK(c.preempted() == "v2");
    Cluster d{
        "[{name: a, resources: {guaranteed: {memory: 2}}}, {name: b, properties: {preemption.policy: disabled}}]"};
    d.nodes(1, "memory:4").application("x", "root.a").application("v", "root.b").victim("v", "v", "memory:4", "n-0", 1);
    d.ask("x", "k", "memory:2", kOther).cycles(1);
    CHECK(d.preempted() == "");
}

TEST_CASE("P-044 EX-P6 nobody of higher effective priority") {
    const auto run = [](int victim_offset, int ask_offset) {
        Cluster c{fmt::format("[{{name: a, resources: {{guaranteed: {{memory: 2}}}}, properties: {{priority.offset: "
                              "'{}'}}}}, {{name: b, properties: {{priority.offset: '{}'}}}}]",
                              ask_offset, victim_offset)};
        c.nodes(2, "memory:1").application("x", "root.a").application("v", "root.b");
        c.victim("v", "v0", "memory:1", "n-0", 1, "prio=0").victim("v", "v1", "memory:1", "n-1", 2, "prio=1");
        c.ask("x", "k0", "memory:1", kOther).ask("x", "k1", "memory:1", kOther).cycles(2);
        return c.preempted();
    };
    CHECK(run(0, 0) == "v0");
    CHECK(run(1, 0) == "");
    CHECK(run(0, 1) == "v0 v1");
}

TEST_CASE("P-044 D-23 an offset of a queue that both are in helps nobody") {
    Cluster c{
        "[{name: p, properties: {priority.offset: '100'}, queues: [{name: a, resources: {guaranteed: {memory: 1}}}, "
        "{name: b}]}]"};
    c.nodes(1, "memory:1").application("x", "root.p.a").application("v", "root.p.b");
    c.victim("v", "v", "memory:1", "n-0", 1, "prio=5").ask("x", "k", "memory:1", kOther).cycles(2);
    CHECK(c.preempted() == "");
}

TEST_CASE("P-045 a priority fence replaces values: a low one makes all below it eligible, a high one safe") {
    for (const int offset : {0, 1}) {
        Cluster c{fmt::format("[{{name: a, resources: {{guaranteed: {{memory: 1}}}}}}, {{name: p, properties: "
                              "{{priority.policy: fence, priority.offset: '{}'}}, queues: [{{name: b}}]}}]",
                              offset)};
        c.nodes(1, "memory:1").application("x", "root.a").application("v", "root.p.b");
        c.victim("v", "v", "memory:1", "n-0", 1, "prio=99").ask("x", "k", "memory:1", kOther).cycles(1);
        CHECK(c.preempted() == (offset == 0 ? "v" : ""));
    }
}

} // namespace yk::testing
