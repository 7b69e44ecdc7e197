// SPDX-License-Identifier: Apache-2.0
// I-354: why a node takes nothing.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/reports/explain.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::seconds;

NodeExplanation explain(Cluster& c, const std::string& node) {
    return explain_node(*c.core().read("default"), node);
}

std::string reasons_of(const NodeExplanation& explanation) {
    std::string text;
    for (const ExplainReason& reason : explanation.reasons)
        text += fmt::format("{}{} {} ({})", text.empty() ? "" : "; ", reason.code, reason.object, reason.asks);
    return text;
}

const ExplainReason& reason(const NodeExplanation& explanation, const std::string& code) {
    for (const ExplainReason& each : explanation.reasons)
        if (each.code == code) return each;
    FAIL("no reason " << code);
    return explanation.reasons.front();
}

std::string required(const std::string& node) {
    return "tags=yunikorn.apache.org/requiredNode:" + node;
}

} // namespace

TEST_CASE("I-354 explain node: IDLE when nothing is pending, with what is there") {
    Cluster c;
    c.node("n", "vcore:10").application("x").application("y").existing("x", "1", "vcore:2", "n");
    c.existing("x", "2", "vcore:2", "n").existing("y", "1", "vcore:1", "n");
    c.play("alloc place key=f res=vcore:3 node=n tags=foreign:static");
    const NodeExplanation idle = explain(c, "n");
    CHECK(idle.found);
    CHECK(idle.verdict == "IDLE");
    CHECK(idle.reasons.empty());
    CHECK(idle.node.available == Map{{"vcore", 2}});
    CHECK(idle.node.allocation_count == 3);
    CHECK(idle.foreign == 1);
    CHECK(idle.applications == std::map<std::string, std::int64_t>{{"x", 2}, {"y", 1}});
    CHECK_FALSE(explain(c, "none").found);
    CHECK(c.core().read("none") == nullptr);
}

TEST_CASE("I-354 explain node: NODE_FIT counts asks, not groups, by the type they lack; SHORT when none fits") {
    Cluster c;
    c.node("n", "vcore:4,memory:10").application("x").existing("x", "1", "vcore:3,memory:2", "n");
    c.asks("x", 3, "vcore:2").ask("x", "large", "vcore:2,memory:20");
    const NodeExplanation full = explain(c, "n");
    CHECK(full.verdict == "SHORT");
    CHECK(reasons_of(full) == "NODE_FIT n (4)");
    CHECK(full.pending.asks == 4);
    CHECK(full.pending.too_large == 1);
    CHECK(full.pending.lacking == std::vector<std::pair<std::string, std::int64_t>>{{"memory", 1}, {"vcore", 4}});
    CHECK(full.reasons[0].text ==
          "of 4 pending asks 0 fit now, 1 would not even if the node were empty; 1 lacks memory; 4 lack vcore");
    c.ask("x", "small", "vcore:1");
    const NodeExplanation open = explain(c, "n");
    CHECK(open.verdict == "SCHEDULABLE");
    CHECK(open.pending.fitting == 1);
    CHECK(reasons_of(open) == "NODE_FIT n (4)");
    CHECK(c.cycles(1) == 1); // what the planner makes of it
    CHECK(c.node_of("x", "small") == "n");
}

TEST_CASE("B12 explain node: FULL only when nothing is left of what is asked for") {
    Cluster c;
    c.node("n", "vcore:4,memory:10").application("x").existing("x", "1", "vcore:2,memory:1", "n");
    SECTION("a type that the node does not have is no fullness") {
        c.ask("x", "typo", "vcores:1");
        const NodeExplanation wrong = explain(c, "n");
        CHECK(wrong.verdict == "TOO_SMALL");
        CHECK(wrong.reasons[0].text == "of 1 pending ask 0 fit now, 1 would not even if the node were empty; "
                                       "1 lacks vcores, which the node does not have");
    }
    SECTION("some is left, not enough") {
        c.ask("x", "big", "vcore:3");
        CHECK(explain(c, "n").verdict == "SHORT");
    }
    SECTION("nothing is left") {
        c.existing("x", "2", "vcore:2", "n").ask("x", "big", "vcore:3,memory:1").ask("x", "typo", "vcores:1");
        CHECK(explain(c, "n").verdict == "FULL");
    }
}

TEST_CASE("I-354 explain node: DRAINING takes only what requires the node") {
    Cluster c;
    c.node("n", "vcore:4", "createdrain").application("x").asks("x", 2, "vcore:3");
    c.ask("x", "pinned", "vcore:5", required("n")).ask("x", "elsewhere", "vcore:5", required("m"));
    const NodeExplanation drained = explain(c, "n");
    CHECK(drained.verdict == "DRAINING");
    CHECK(reasons_of(drained) == "NODE_UNSCHEDULABLE n (2); REQUIRED_NODE n (1); NODE_FIT n (1)");
    CHECK(drained.pending.asks == 3); // not what requires another node
    CHECK(drained.pending.required == 1);
    CHECK(drained.pending.fitting == 2);
}

TEST_CASE("I-354 explain node: RESERVED names the ask that it is kept for, and how many others it is kept from") {
    Cluster c;
    c.node("spare", "vcore:100", "createdrain").node("n", "vcore:10").application("holder").application("x");
    c.existing("holder", "used", "vcore:8", "n").ask("x", "k", "vcore:6").advance(seconds(3));
    c.cycles(1);
    REQUIRE(c.reserved_on("n") == "k");
    c.application("y").asks("y", 2, "vcore:2").ask("y", "pinned", "vcore:1", required("n"));
    const NodeExplanation reserved = explain(c, "n");
    CHECK(reserved.verdict == "RESERVED");
    REQUIRE(reserved.reservations.size() == 1);
    CHECK(reserved.reservations[0].application == "x");
    CHECK(reserved.reservations[0].key == "k");
    CHECK(reserved.reservations[0].queue == "root.a");
    CHECK(reserved.reservations[0].resource == Map{{"vcore", 6}});
    CHECK(reason(reserved, "RESERVED_OTHER").object == "x");
    CHECK(reason(reserved, "RESERVED_OTHER").asks == 2); // S-432: not from the one that requires the node
    CHECK(reason(reserved, "RESERVED_OTHER").text == "kept for ask k of application x");
    CHECK(reason(reserved, "REQUIRED_NODE").asks == 0);
    CHECK(reason(reserved, "NODE_FIT").asks == 1); // k itself
}

TEST_CASE("I-354 explain node: HELD when there is room and queue, user or application are in the way") {
    Cluster c{"[{name: a, resources: {max: {vcore: 3m}}}, {name: b, maxapplications: 1}, {name: u, limits: [{users: "
              "['*'], maxresources: {vcore: 1m}}]}]"};
    c.node("n", "vcore:10").application("x").existing("x", "1", "vcore:2", "n").asks("x", 2, "vcore:2");
    const NodeExplanation by_queue = explain(c, "n");
    CHECK(by_queue.verdict == "SCHEDULABLE");
    CHECK(reasons_of(by_queue) == "HELD x (2)");
    CHECK(by_queue.pending.held == 2);
    c.application("u", "root.u").ask("u", "k", "vcore:2");
    CHECK(explain(c, "n").pending.held == 3);
    c.application("b1", "root.b").ask("b1", "k", "vcore:1").cycles(1);
    REQUIRE(c.node_of("b1", "k") == "n");
    c.application("b2", "root.b").ask("b2", "k", "vcore:1");
    CHECK(explain(c, "n").pending.held == 4);
    CHECK(explain(c, "n").pending.fitting == 4);
}

TEST_CASE("I-354 I-377 explain node: the RM refused it") {
    Cluster c;
    c.asks_rm().node("n", "vcore:10").application("x").ask("x", "k", "vcore:6").cycles(1);
    c.answer("fit call=1 no=n:taint");
    c.cycles(1);
    const NodeExplanation refused = explain(c, "n");
    CHECK(refused.verdict == "SCHEDULABLE");
    CHECK(reason(refused, "RM_PREDICATE").asks == 1);
    CHECK(reason(refused, "RM_PREDICATE").text == "the resource manager refused it for 1 ask; last: taint");
}

} // namespace yk::testing
