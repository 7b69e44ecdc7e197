// SPDX-License-Identifier: Apache-2.0
// preemption-gang-priority.md 3.7 with an RM that has preemption predicates.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"
#include "tests/unit/libcore/preemption/starved.h"

namespace yk::testing {

namespace {

using std::chrono::seconds;

/// Leaf c2 with a guarantee for application `x`, leaf c1 without for `v`; nobody reserves on its own.
Cluster starved_unreserved(const std::string& guaranteed, bool predicates = false) {
    Settings settings = Cluster::manual_settings();
    settings.reservations_disabled = true;
    Cluster c{
        fmt::format("[{{name: c2, resources: {{guaranteed: {{{}}}}}}}, {{name: c1}}]", guaranteed), {}, {}, settings};
    c.asks_rm(predicates, true).application("x", "root.c2").application("v", "root.c1");
    return c;
}

std::string reasons(Cluster& c) {
    return c.reasons("x", "k");
}

} // namespace

TEST_CASE("P-056 P-062 I-050 the RM is asked about the node's plan and says how much of it has to go") {
    Cluster c = starved_unreserved("memory: 8");
    c.nodes(1, "memory:8").victim("v", "old", "memory:4", "n-0", 1).victim("v", "new", "memory:4", "n-0", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.asked() ==
          Lines{"call 1: x/k on n-0 if 1 or more of new, old go?"}); // P-056: the plan is longer than needed
    CHECK(c.preempted().empty());

    SECTION("as much as the resources need") {
        c.answer("preempt call=1 index=0");
        c.cycles(1);
        CHECK(c.preempted() == "new");
        CHECK(c.reserved_on("n-0") == "k");
    }
    SECTION("P-063 D-34 more: they go as a whole") {
        c.answer("preempt call=1 index=1");
        c.cycles(1);
        CHECK(c.preempted() == "new old");
    }
    SECTION("not this node") {
        const std::string answer = GENERATE("preempt call=1", "preempt call=1 index=2", "preempt call=1 index=-1",
                                            "preempt call=1 index=-2", "failed call=1 error=down");
        c.answer(answer);
        c.cycles(1);
        CHECK(c.preempted().empty());
        CHECK(reasons(c).find("preemption does not help (1)") != std::string::npos);
    }
    SECTION("I-379 no answer") {
        c.answer("timeout call=1");
        c.cycles(1);
        CHECK(c.preempted().empty());
        CHECK(reasons(c).find("predicate call timed out (1)") != std::string::npos);
    }
    SECTION("P-064 a victim went meanwhile: nobody goes in vain") {
        c.release("v", "new");
        c.answer("preempt call=1 index=1");
        c.cycles(1);
        CHECK(c.preempted().empty());
        CHECK(c.placed("x") == "k"); // there is room now
    }
    SECTION("P-064 the node went meanwhile") {
        c.play("nodes decommission id=n-0");
        CHECK(c.answer("preempt call=1 index=0") == "ok");
        c.cycles(1);
        CHECK(c.preempted().empty());
    }
    SECTION("the ask went meanwhile") {
        c.play("alloc unask app=x key=k");
        CHECK(c.answer("preempt call=1 index=0") == "late");
        CHECK(c.core().calls_in_flight() == 0);
    }
}

TEST_CASE("P-062 the RM is asked about at most 4,000 victims of a node") {
    Cluster c = starved_unreserved("memory: 8000");
    c.nodes(1, "memory:4100");
    std::string many = "alloc";
    for (int i = 0; i < 4100; ++i)
        many += fmt::format("{} place app=v key=v-{} res=memory:1 node=n-0 self=1", i == 0 ? "" : " |", i);
    c.play(many);
    const auto victims = [&c] {
        std::int64_t count = 0;
        for (const std::string& call : c.asked()) count += 1 + std::count(call.begin(), call.end(), ',');
        return count;
    };
    SECTION("those that may be taken besides are left out") {
        c.ask("x", "k", "memory:1", kOther).cycles(1);
        CHECK(victims() == 4000);
        c.answer("preempt call=1 index=4000");
        c.cycles(1);
        CHECK(c.preempted().empty());
    }
    SECTION("a node where more have to go is left out") {
        c.ask("x", "k", "memory:4050", kOther).cycles(1);
        CHECK(victims() == 0);
    }
}

TEST_CASE("P-062 nodes by index and id, ten at a time, until one without a protected victim is agreed to") {
    Cluster c = starved_unreserved("memory: 4");
    c.nodes(12, "memory:4");
    for (int i = 0; i < 12; ++i) {
        const std::string node = fmt::format("n-{}", i);
        if (i < 8)
            c.existing("v", "v-" + node, "memory:4", node); // opted out: protected
        else
            c.victim("v", "v-" + node, "memory:4", node, 1);
    }
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    const Lines first = c.asked();
    REQUIRE(first.size() == 10);
    CHECK(first[0] == "call 1: x/k on n-0 if 1 or more of v-n-0 go?");
    CHECK(first[9] == "call 10: x/k on n-7 if 1 or more of v-n-7 go?");
    for (int call = 1; call < 10; ++call) c.answer(fmt::format("preempt call={} index=0", call));

    SECTION("n-10 and n-11 were among them") {
        c.answer("preempt call=10 index=0");
        c.cycles(1);
        CHECK(c.preempted() == "v-n-10");
    }
    SECTION("a late batch waits for its last answer") {
        c.cycles(1);
        CHECK(c.preempted().empty());
    }
}

TEST_CASE("P-062 a protected victim is taken only when no further node is left") {
    Cluster c = starved_unreserved("memory: 4");
    c.nodes(11, "memory:4");
    for (int i = 0; i < 11; ++i) c.existing("v", fmt::format("v-{}", i), "memory:4", fmt::format("n-{}", i));
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    for (int call = 1; call <= 10; ++call) c.answer(fmt::format("preempt call={} index=0", call));
    c.asked();
    c.cycles(1);
    CHECK(c.preempted().empty());
    CHECK(c.asked() == Lines{"call 11: x/k on n-9 if 1 or more of v-9 go?"});
    c.answer("preempt call=11");
    c.cycles(1);
    CHECK(c.preempted() == "v-0");
}

TEST_CASE("I-051 P-062 a node where the ask fits as it is is asked about with an ordinary call") {
    Cluster c{"[{name: p, resources: {max: {memory: 4}}, queues: [{name: c1}, {name: c2, resources: {guaranteed: "
              "{memory: 4}}}]}]"};
    c.asks_rm(true, true).nodes(2, "memory:10").application("x", "root.p.c2").application("v", "root.p.c1");
    c.victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.asked() == Lines{"call 1: x/k on n-0?", "call 2: x/k on n-1?"});
    c.answer("fit call=1 no=n-0:why");
    c.cycles(1);
    CHECK(c.preempted().empty());
    c.answer("fit call=2 yes=n-1");
    c.cycles(1);
    CHECK(c.preempted() == "v"); // for the limit of p
    CHECK(c.reserved_on("n-1") == "k");
}

TEST_CASE("P-141 an ask that the RM refuses where there is room may preempt elsewhere") {
    Cluster c = starved_unreserved("memory: 4", true);
    c.nodes(2, "memory:4").victim("v", "v", "memory:4", "n-1", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.asked() == Lines{"call 1: x/k on n-0?"});
    c.answer("fit call=1 no=n-0:zone");
    c.cycles(1);
    CHECK(c.asked() == Lines{"call 2: x/k on n-1 if 1 or more of v go?"}); // P-055: not n-0
    c.answer("preempt call=2 index=0");
    c.cycles(1);
    CHECK(c.preempted() == "v");
    CHECK(c.reserved_on("n-1") == "k");
    c.release("v", "v", 3).cycles(1);
    CHECK(c.asked() == Lines{"call 3: x/k on n-1?"});
    c.answer("fit call=3 yes=n-1");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("x", "k") == "n-1");
}

TEST_CASE("P-025 P-064 the RM's answer is judged by what holds then: the victim's queue is within its guarantee now") {
    const auto queues = [](int guaranteed) {
        return fmt::format("[{{name: c2, resources: {{guaranteed: {{memory: 4}}}}}}, {{name: c1, resources: "
                           "{{guaranteed: {{memory: {}}}}}}}]",
                           guaranteed);
    };
    const int now = GENERATE(4, 5, 8); // of 8 in use
    Settings settings = Cluster::manual_settings();
    settings.reservations_disabled = true;
    Cluster c{queues(4), {}, {}, settings};
    c.asks_rm(false, true).application("x", "root.c2").application("v", "root.c1").nodes(2, "memory:4");
    c.victim("v", "old", "memory:4", "n-0", 1).victim("v", "new", "memory:4", "n-1", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    REQUIRE(c.asked() ==
            Lines{"call 1: x/k on n-0 if 1 or more of old go?", "call 2: x/k on n-1 if 1 or more of new go?"});
    REQUIRE(c.configure(queues(now)) == "ok");
    c.answer("preempt call=1 index=0");
    c.answer("preempt call=2 index=0");
    c.cycles(1);
    CHECK(c.preempted() == (now == 4 ? "old" : ""));
}

TEST_CASE("P-064 an ask that could be placed meanwhile takes nobody") {
    Cluster c = starved_unreserved("memory: 4", true);
    c.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).node("spare", "memory:1");
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.asked() == Lines{"call 1: x/k on n-0 if 1 or more of v go?"});
    c.node("n-1", "memory:4");
    c.answer("preempt call=1 index=0");
    c.cycles(1);
    CHECK(c.preempted().empty());
    CHECK(c.asked() == Lines{"call 2: x/k on n-1?"});
}

TEST_CASE("P-020 P-064 an ask that may not preempt any more when the RM agrees takes nobody") {
    constexpr const char* kQueues = "[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]";
    Cluster c = starved_unreserved("memory: 4");
    c.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.asked() == Lines{"call 1: x/k on n-0 if 1 or more of v go?"});
    SECTION("its user is at the limit") {
        CHECK(c.configure(kQueues, "limits: [{users: ['*'], maxresources: {memory: 4}}]") == "ok");
    }
    SECTION("preemption is switched off") {
        CHECK(c.configure(kQueues, {}, "preemption: {enabled: false}") == "ok");
    }
    c.answer("preempt call=1 index=0");
    c.cycles(1);
    CHECK(c.preempted().empty());
    CHECK(reasons(c).find("victims released meanwhile (1)") != std::string::npos);
    CHECK(c.core().calls_in_flight() == 0);
}

TEST_CASE("P-024 with such an RM, too, the reason of an attempt that fails is told") {
    SECTION("the guarantee does not carry the ask") {
        Cluster c = starved_unreserved("memory: 3");
        c.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
        CHECK(c.asked() == Lines{});
        CHECK(reasons(c).find("preemption does not satisfy guarantees") != std::string::npos);
        REQUIRE(c.app("x").asks.at(0).last_preemption);
        CHECK(c.app("x").asks.at(0).last_preemption->fence_root == "root");
    }
    SECTION("nobody may go") {
        Cluster c = starved_unreserved("memory: 4");
        c.nodes(1, "memory:4").ask("v", "v", "memory:4", "prio=9").cycles(1);
        c.ask("x", "k", "memory:4", kOther).cycles(1);
        CHECK(reasons(c).find("preemption does not help") != std::string::npos);
        REQUIRE(c.app("x").asks.at(0).last_preemption);
    }
    SECTION("the RM agrees to none") {
        Cluster c = starved_unreserved("memory: 4");
        c.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
        c.answer("preempt call=1");
        c.cycles(1);
        REQUIRE(c.app("x").asks.at(0).last_preemption);
        CHECK(c.app("x").asks.at(0).last_preemption->nodes_tried == 1);
    }
}

TEST_CASE("P-020 in a leaf with back-off, too, an ask beyond its user's limit attempts nothing") {
    Settings settings = Cluster::manual_settings();
    settings.reservations_disabled = true;
    constexpr const char* kQueues = "[{name: c2, resources: {guaranteed: {memory: 4}}, properties: "
                                    "{application.unschedasks.backoff: '9', "
                                    "application.unschedasks.backoff.delay: 1s}}, {name: c1}]";
    Cluster c{kQueues, {}, {}, settings};
    c.asks_rm(true, true).application("x", "root.c2").application("v", "root.c1");
    c.nodes(2, "memory:4").victim("v", "v", "memory:4", "n-1", 1);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.asked() == Lines{"call 1: x/k on n-0?"});
    CHECK(c.configure(kQueues, "limits: [{users: ['*'], maxresources: {memory: 4}}]") == "ok");
    c.answer("fit call=1 no=n-0:zone");
    c.cycles(2);
    CHECK(c.asked() == Lines{});
    CHECK(c.preempted().empty());
}

} // namespace yk::testing
