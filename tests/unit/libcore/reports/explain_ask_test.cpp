// SPDX-License-Identifier: Apache-2.0
// I-354: why an ask is pending, with the reasons of docs/protocol.md.

#include <catch2/catch.hpp>

#include <algorithm>

#include "libcore/reports/explain.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

std::string codes(const Explanation& explanation) {
    std::string text;
    for (const ExplainReason& reason : explanation.reasons) text += (text.empty() ? "" : " ") + reason.code;
    return text;
}

Explanation explain(Cluster& c, const std::string& app, const std::string& key) {
    return explain_ask(*c.core().read("default"), app, key, c.now());
}

std::string names(const SortView& sort) {
    std::string text;
    for (const SortView::Position& each : sort.first) text += (text.empty() ? "" : " ") + each.application;
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

TEST_CASE("B12 an ask for a type that nobody offers is told so, with what may have been meant") {
    Cluster c;
    c.nodes(2, "vcore:10,memory:10").application("app").ask("app", "k", "vcores:1").ask("app", "l", "tape:1,memory:1");
    const Explanation typo = explain(c, "app", "k");
    CHECK(typo.verdict == "IMPOSSIBLE");
    REQUIRE(codes(typo) == "IMPOSSIBLE");
    CHECK(typo.reasons[0].text == "no node offers vcores, did you mean vcore?");
    CHECK(explain(c, "app", "l").reasons[0].text == "no node offers tape");
    c.ask("app", "m", "vcore:11");
    CHECK(explain(c, "app", "m").reasons.back().text == "no node is large enough, even empty");
    c.ask("app", "n", "vcore:11", "tags=yunikorn.apache.org/requiredNode:n-0");
    CHECK(explain(c, "app", "n").reasons.back().text == "its node n-0 is not large enough, even empty");
}

TEST_CASE("B12 B14 the last reason of an ask: what nobody offers, nodes, and a full cluster is no quota") {
    Cluster c{"[{name: a}, {name: b, resources: {max: {vcore: 2m}}}]"};
    c.nodes(2, "vcore:4").application("app").application("limited", "root.b");
    const auto reason_of = [&c](const std::string& app, const std::string& key) {
        for (const AskView& ask : c.app(app).asks)
            if (ask.key == key) return ask.last_reason;
        return std::string{"placed"};
    };
    c.ask("app", "k", "vcores:1");
    CHECK(reason_of("app", "k").empty()); // not tried yet
    c.cycles(1);
    CHECK(reason_of("app", "k") == "No node offers vcores, did you mean vcore?");
    c.ask("app", "l", "vcore:5").ask("limited", "m", "vcore:3");
    c.ask("app", "p", "vcore:5", "tags=yunikorn.apache.org/requiredNode:n-0");
    c.cycles(4);
    CHECK(reason_of("app", "l") == "No node has room");
    CHECK(reason_of("app", "p") == "No room on its node n-0");
    CHECK(reason_of("limited", "m").empty()); // the log says it: a limit that somebody has set
    CHECK(c.reasons("limited", "m") == "Not enough queue quota (1)");
    c.existing("app", "1", "vcore:4", "n-0").existing("app", "2", "vcore:4", "n-1").ask("app", "o", "vcore:1");
    c.cycles(4);
    CHECK(reason_of("app", "o") == "The cluster is full");
}

TEST_CASE("B14 the maximum of the root queue is what the cluster has") {
    Cluster c;
    c.nodes(1, "vcore:4").application("app").existing("app", "1", "vcore:4", "n-0").ask("app", "k", "vcore:1");
    CHECK(explain(c, "app", "k").reasons[0].text == "the cluster has vcore 4, used 4, each pending ask needs 1");
}

TEST_CASE("I-354 SORT: not where more than room is missing") {
    Cluster c{"[{name: a, maxapplications: 1}]"};
    c.nodes(1, "vcore:10").application("first").ask("first", "k", "vcore:1").ask("first", "l", "vcore:1");
    c.cycles(1);
    c.application("second").ask("second", "k", "vcore:1");
    const Explanation second = explain(c, "second", "k");
    CHECK(codes(second) == "QUEUE_MAX_APPS");
    CHECK(second.verdict == "BLOCKED_BY_LIMIT"); // a limit is what holds it
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
