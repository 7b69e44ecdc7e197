// SPDX-License-Identifier: Apache-2.0
// issue 4: `ykctl explain preemption`: decided now, by the planner's own code, without doing it.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/reports/explain.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

Explanation explain(Cluster& c, const std::string& key) {
    return c.core().explain_preemption("default", "x", key, c.now());
}

std::string victims_of(const Explanation& explanation) {
    std::string keys;
    if (!explanation.preemption) return keys;
    for (const auto& victim : explanation.preemption->victims) keys += (keys.empty() ? "" : " ") + victim.key;
    return keys;
}

Cluster full(const std::string& c1 = {}) {
    Cluster c{fmt::format("[{{name: c2, resources: {{guaranteed: {{memory: 4}}}}}}, {{name: c1{}}}]", c1)};
    c.application("x", "root.c2").application("v", "root.c1").nodes(1, "memory:4");
    c.victim("v", "v1", "memory:2", "n-0", 1).victim("v", "v2", "memory:2", "n-0", 2, "prio=9");
    return c;
}

constexpr const char* kOld = "tags=creationTime:1000 other=1";

} // namespace

TEST_CASE("explain preemption: who would go, from where, for which node; nothing is done") {
    Cluster c = full();
    c.ask("x", "k", "memory:2", kOld);
    const Explanation explanation = explain(c, "k");
    CHECK(explanation.verdict == "WOULD_PREEMPT");
    CHECK(victims_of(explanation) == "v1");
    REQUIRE(explanation.preemption);
    CHECK(explanation.preemption->node == "n-0");
    CHECK(explanation.preemption->fence_root == "root");
    CHECK(explanation.preemption->remaining->at("memory") == 4);
    REQUIRE(explanation.preemption->givers.size() == 1);
    CHECK(explanation.preemption->givers[0].queue == "root.c1");
    CHECK(explanation.preemption->givers[0].candidates == 1);
    CHECK(explanation.preemption->excluded.at("of higher priority") == 1);
    CHECK(c.preempted() == "");
    c.cycles(1);
    CHECK(c.preempted() == victims_of(explanation)); // the cycle does what was told
    CHECK(explain(c, "k").verdict == "WAITING");
    CHECK(explain(c, "k").preemption->announced);
    CHECK(victims_of(explain(c, "k")) == "v1");
}

TEST_CASE("explain preemption: what comes first is said, and who would go then") {
    Cluster c = full();
    c.ask("x", "young", "memory:2", "other=1").ask("x", "meek", "memory:2", "tags=creationTime:1000");
    const Explanation young = explain(c, "young");
    CHECK(young.verdict == "WAITING");
    REQUIRE(young.reasons.size() == 1);
    CHECK(young.reasons[0].code == "PREEMPT_WAIT");
    CHECK(young.reasons[0].text.find("30 s are left") != std::string::npos);
    CHECK(victims_of(young) == "v1");
    CHECK_FALSE(young.preemption->announced); // the node would be kept
}

TEST_CASE("B12 explain preemption: an ask that may not preempt is told so, without a delay and without victims") {
    Cluster c = full();
    c.ask("x", "meek", "memory:2");
    for (int i = 0; i < 2; ++i) {
        const Explanation meek = explain(c, "meek");
        CHECK(meek.verdict == "NOT_ALLOWED");
        REQUIRE(meek.reasons.size() == 1);
        CHECK(meek.reasons[0].text ==
              "the ask may not preempt others (allowPreemptOther), so nobody will ever go for it");
        CHECK(victims_of(meek).empty());
        CHECK(meek.preemption->node.empty());
        c.advance(std::chrono::minutes{2}).cycles(1);
    }
    CHECK(c.preempted().empty());
}

TEST_CASE("explain preemption: why nobody: guarantee, fence, policy, protection") {
    Cluster protected_one = full(", resources: {guaranteed: {memory: 4}}");
    protected_one.ask("x", "k", "memory:2", kOld).ask("x", "large", "memory:5", kOld);
    CHECK(explain(protected_one, "k").verdict == "NO_VICTIMS");
    CHECK(explain(protected_one, "k").preemption->excluded.at("in a queue within its guarantee") == 2);
    CHECK(explain(protected_one, "large").preemption->result == "preemption does not satisfy guarantees");
    Cluster disabled = full(", properties: {preemption.policy: disabled}");
    disabled.ask("x", "k", "memory:2", kOld);
    CHECK(explain(disabled, "k").preemption->excluded.at("in a queue with preemption.policy disabled") == 2);
    Cluster fenced{
        "[{name: c2, resources: {guaranteed: {memory: 4}}, properties: {preemption.policy: fence}}, {name: c1}]"};
    fenced.application("x", "root.c2").application("v", "root.c1").nodes(1, "memory:4");
    fenced.victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:2", kOld);
    CHECK(explain(fenced, "k").preemption->excluded.at("outside the fence") == 1);
}

TEST_CASE("explain preemption: an ask that fits, one that is placed, one that is bound to a node, none") {
    Cluster c = full();
    c.node("n-1", "memory:4").ask("x", "k", "memory:2", kOld);
    CHECK(explain(c, "k").verdict == "SCHEDULABLE");
    c.cycles(1);
    CHECK(explain(c, "k").verdict == "PLACED");
    CHECK(!explain(c, "nobody").found);
    c.ask("x", "d", "memory:2", "prio=1 tags=yunikorn.apache.org/requiredNode:n-0");
    CHECK(explain(c, "d").verdict == "WOULD_PREEMPT");
    CHECK(victims_of(explain(c, "d")) == "v1");
    CHECK(c.preempted() == "");
}

TEST_CASE("explain preemption: an ask that is not looked at takes nobody") {
    SECTION("its application has no slot") {
        Cluster c{"[{name: c2, maxapplications: 1, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
        c.application("x", "root.c2").application("first", "root.c2").application("v", "root.c1").nodes(1, "memory:5");
        c.ask("first", "f", "memory:1").cycles(1);
        c.victim("v", "v1", "memory:2", "n-0", 1).victim("v", "v2", "memory:2", "n-0", 2);
        c.ask("x", "k", "memory:2", kOld);
        CHECK(explain(c, "k").verdict == "WAITING");
        CHECK(explain(c, "k").reasons.at(0).code == "QUEUE_MAX_APPS");
        c.cycles(2);
        CHECK(c.preempted().empty());
    }
    SECTION("its user is at the limit: it does not fit either") {
        Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]",
                  "limits: [{users: ['*'], maxresources: {memory: 4}}]"};
        c.application("x", "root.c2").application("v", "root.c1").nodes(1, "memory:8");
        c.victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:2", kOld);
        CHECK(explain(c, "k").verdict != "SCHEDULABLE");
        CHECK(explain(c, "k").reasons.at(0).code == "USER_LIMIT");
    }
}

TEST_CASE("P-141 explain preemption: where the RM refused the ask there is no room for it") {
    Cluster c = full();
    c.asks_rm(true, true).node("n-1", "memory:4").ask("x", "k", "memory:2", kOld).cycles(1);
    CHECK(explain(c, "k").verdict == "SCHEDULABLE");
    c.answer("fit call=1 no=n-1:zone");
    const Explanation explanation = explain(c, "k");
    CHECK(explanation.verdict == "WOULD_PREEMPT");
    CHECK(explanation.reasons.at(0).code == "RM_PREDICATE"); // P-062: it has the last word
}

TEST_CASE("EX-P14 P-052 P-053 explain preemption: whom the guarantees protect") {
    Cluster sinking = full(", resources: {guaranteed: {memory: 3}}");
    sinking.ask("x", "k", "memory:2", kOld);
    CHECK(explain(sinking, "k").verdict == "NO_VICTIMS");
    CHECK(explain(sinking, "k").preemption->excluded.at("would take its queue below its guarantee") == 1);
    Cluster large{"[{name: c2, resources: {guaranteed: {memory: 2}}}, {name: c1}]"};
    large.application("x", "root.c2").application("v", "root.c1").nodes(1, "memory:4");
    large.victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:2", kOld);
    CHECK(explain(large, "k").preemption->excluded.at("larger than what is left of the guarantee") == 1);
    Cluster spared = full(", resources: {guaranteed: {memory: 4}}");
    spared.ask("x", "k", "memory:2", kOld);
    REQUIRE(explain(spared, "k").preemption->givers.size() == 1);
    CHECK(explain(spared, "k").preemption->givers[0].spared == "in a queue within its guarantee");
    CHECK(explain(spared, "k").preemption->givers[0].queue == "root.c1");
}

TEST_CASE("P-094 P-097 explain preemption of a required-node ask: why nobody, and what is on its way") {
    constexpr const char* kPinned = "tags=yunikorn.apache.org/requiredNode:n-0";
    Cluster c = full();
    c.ask("x", "d", "memory:2", fmt::format("prio=-1 {}", kPinned));
    CHECK(explain(c, "d").verdict == "NO_VICTIMS");
    CHECK(explain(c, "d").preemption->excluded.at("of higher priority") == 2);
    Cluster leaving = full();
    leaving.ask("x", "first", "memory:2", fmt::format("prio=1 {}", kPinned)).cycles(2);
    CHECK(leaving.preempted() == "v1");
    leaving.play("alloc unask app=x key=first");
    leaving.ask("x", "d", "memory:2", fmt::format("prio=1 {}", kPinned));
    const Explanation explanation = explain(leaving, "d");
    CHECK(explanation.verdict == "WAITING");
    CHECK(explanation.reasons.size() == 1);
}

} // namespace yk::testing
