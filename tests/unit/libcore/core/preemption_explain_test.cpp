// issue 4: `ykctl explain preemption`: decided now, by the planner's own code, without doing it.

#include <catch2/catch.hpp>

#include <fmt/format.h>

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
    const Explanation meek = explain(c, "meek");
    CHECK(meek.verdict == "WAITING");
    CHECK(meek.reasons[0].text.find("allowPreemptOther") != std::string::npos);
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

} // namespace yk::testing
