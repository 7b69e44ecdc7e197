// I-354: why an ask is pending, with the reason identifiers of ecosystem.md 6.1.

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

std::string codes(const Explanation& explanation) {
    std::string text;
    for (const ExplainReason& reason : explanation.reasons) text += (text.empty() ? "" : " ") + reason.code;
    return text;
}

Explanation explain(Cluster& c, const std::string& app, const std::string& key) {
    return c.core().explain_ask("default", app, key, c.now());
}

std::string names(const SortView& sort) {
    std::string text;
    for (const SortView::Place& place : sort.first) text += (text.empty() ? "" : " ") + place.application;
    return text;
}

} // namespace

TEST_CASE("I-354 SORT: how many applications come first in a fair queue, the first three, and their shares") {
    Cluster c{"[{name: a, properties: {application.sort.policy: fair}, resources: {guaranteed: {vcore: 10m}}}]"};
    c.nodes(1, "vcore:10");
    for (const int used : {3, 1, 0, 2, 4}) {
        const std::string app = "a" + std::to_string(used);
        c.application(app);
        if (used > 0) c.existing(app, "used", "vcore:" + std::to_string(used), "n-0");
        c.ask(app, "more", "vcore:1");
    }
    const Explanation last = explain(c, "a4", "more");
    CHECK(last.verdict == "WAITING");
    REQUIRE(codes(last) == "QUEUE_MAX NODE_FIT SORT"); // of root: all that the nodes have is used
    const ExplainReason& reason = last.reasons.back();
    CHECK(reason.object == "root.a");
    CHECK(reason.asks == 0); // others in front block nothing
    REQUIRE(reason.sort.has_value());
    CHECK(reason.sort->policy == "fair");
    CHECK(reason.sort->ahead == 4);
    CHECK(names(*reason.sort) == "a0 a1 a2");
    CHECK(reason.sort->first[2].share == Approx(0.2));
    CHECK(reason.sort->own.share == Approx(0.4));
    CHECK(codes(explain(c, "a0", "more")) == "QUEUE_MAX NODE_FIT"); // nobody before the first
    CHECK(last.reasons.at(1).nodes->best == "n-0");
}

TEST_CASE("I-354 SORT: an ask that could be placed at once is schedulable, whoever comes before it") {
    Cluster c;
    c.nodes(1, "vcore:10").application("first").ask("first", "k", "vcore:1");
    c.application("second").ask("second", "k", "vcore:1");
    const Explanation second = explain(c, "second", "k");
    CHECK(second.verdict == "SCHEDULABLE");
    REQUIRE(codes(second) == "SORT");
    CHECK(second.reasons[0].sort->policy == "fifo");
    CHECK(names(*second.reasons[0].sort) == "first");
    CHECK_FALSE(second.reasons[0].sort->own.share.has_value());
    c.ask("second", "urgent", "vcore:1", "prio=5");
    CHECK(codes(explain(c, "second", "k")).empty());
    CHECK(names(*explain(c, "first", "k").reasons[0].sort) == "second");
}

TEST_CASE("I-354 SORT: not where more than room is missing") {
    Cluster c{"[{name: a, maxapplications: 1}]"};
    c.nodes(1, "vcore:10").application("first").ask("first", "k", "vcore:1").ask("first", "l", "vcore:1");
    c.cycles(1);
    c.application("second").ask("second", "k", "vcore:1");
    const Explanation second = explain(c, "second", "k");
    CHECK(codes(second) == "QUEUE_MAX_APPS");
    CHECK(second.verdict == "BLOCKED_BY_LIMIT"); // ecosystem.md 6, row 2: a limit is what holds it
}

TEST_CASE("I-354 an ask that is placed blocks nothing") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:1");
    c.cycles(1);
    const Explanation placed = explain(c, "app", "k");
    CHECK(placed.verdict == "PLACED");
    REQUIRE(codes(placed) == "PLACED");
    CHECK(placed.reasons[0].asks == 0);
}

TEST_CASE("I-354 REQUIRED_NODE: with what the node has") {
    Cluster c;
    c.nodes(2, "vcore:1").application("app").ask("app", "k", "vcore:5", "tags=yunikorn.apache.org/requiredNode:n-1");
    c.node("big", "vcore:9");
    const Explanation pinned = explain(c, "app", "k");
    c.ask("app", "l", "vcore:1", "tags=yunikorn.apache.org/requiredNode:n-1")
        .ask("app", "m", "vcore:1", "tags=yunikorn.apache.org/requiredNode:n-1");
    c.cycles(2);
    const Explanation full = explain(c, "app", "m");
    REQUIRE(codes(full).find("REQUIRED_NODE") != std::string::npos);
    const auto reason = std::find_if(full.reasons.begin(), full.reasons.end(),
                                     [](const ExplainReason& each) { return each.code == "REQUIRED_NODE"; });
    REQUIRE(reason->nodes.has_value());
    CHECK(reason->nodes->best == "n-1");
    CHECK(reason->need.has_value());
    for (const ExplainReason& each : full.reasons)
        if (each.code == "RESERVED") CHECK(each.asks == 0); // kept for it, which blocks nothing
    CHECK(pinned.verdict == "IMPOSSIBLE");
}

} // namespace yk::testing
