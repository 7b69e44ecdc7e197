// SPDX-License-Identifier: Apache-2.0
// interface.md 4.9: an RM that is asked about nodes before an ask is placed (docs/adr/0014).

#include <catch2/catch.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Nodes n-0, n-1, ... of 10 and an application `app`, whose RM is asked.
Cluster asking(int nodes) {
    Cluster c;
    c.asks_rm().nodes(nodes, "vcore:10").application("app");
    return c;
}

std::size_t nodes_in(const std::string& call) {
    return static_cast<std::size_t>(std::count(call.begin(), call.end(), ',')) + 1;
}

} // namespace

TEST_CASE("I-380 an RM without the capability is asked nothing") {
    Cluster c;
    c.nodes(2, "vcore:10").application("app").ask("app", "k", "vcore:6");
    CHECK(c.cycles(1) == 1);
    CHECK(c.asked() == Lines{});
}

TEST_CASE("I-377 the nodes that fit are asked for in sorting order, and the first that is all right is taken") {
    Cluster c = asking(3);
    c.existing("app", "old", "vcore:2", "n-0").existing("app", "big", "vcore:8", "n-1").ask("app", "k", "vcore:6");
    CHECK(c.cycles(1) == 0);
    CHECK(c.asked() == Lines{"call 1: app/k on n-2, n-0?"});
    CHECK(c.cycles(3) == 0); // asked once
    CHECK(c.asked() == Lines{});
    CHECK(c.answer("fit call=1 yes=n-0 no=n-2:taint") == "ok");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("app", "k") == "n-0");
}

TEST_CASE("I-377 other asks go on while one waits") {
    Cluster c = asking(2);
    c.ask("app", "a", "vcore:6").ask("app", "b", "vcore:6").application("other").ask("other", "c", "vcore:1");
    CHECK(c.cycles(1) == 0);
    CHECK(c.asked() ==
          Lines{"call 1: app/a on n-0, n-1?", "call 2: app/b on n-0, n-1?", "call 3: other/c on n-0, n-1?"});
    c.answer("fit call=2 yes=n-0,n-1");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("app", "b") == "n-0");
    c.answer("fit call=3 yes=n-1");
    c.answer("fit call=1 yes=n-0,n-1");
    CHECK(c.cycles(2) == 2);
    CHECK(c.node_of("app", "a") == "n-1"); // n-0 is full by now: the next node of the answer
    CHECK(c.node_of("other", "c") == "n-1");
}

TEST_CASE("I-377 an answered ask stands in front of its application's other asks") {
    Cluster c = asking(1);
    c.ask("app", "low", "vcore:6").cycles(1);
    c.answer("fit call=1 yes=n-0");
    c.ask("app", "high", "vcore:6", "prio=5");
    CHECK(c.cycles(1) == 1);
    CHECK(c.placed("app") == "low");
}

TEST_CASE("I-377 what changed meanwhile is tested again") {
    Cluster c = asking(2);
    c.ask("app", "k", "vcore:6").cycles(1);
    CHECK(c.asked() == Lines{"call 1: app/k on n-0, n-1?"});

    SECTION("the node is full: evaluated anew") {
        c.existing("app", "x", "vcore:6", "n-0");
        c.answer("fit call=1 yes=n-0 no=n-1:full");
        CHECK(c.cycles(1) == 0);
        c.advance(seconds(1));
        c.cycles(1);
        CHECK(c.asked() == Lines{"call 2: app/k on n-1?"});
    }
    SECTION("the node is drained: the next one") {
        c.play("nodes drain id=n-0");
        c.answer("fit call=1 yes=n-0,n-1");
        CHECK(c.cycles(1) == 1);
        CHECK(c.node_of("app", "k") == "n-1");
    }
    SECTION("the node is gone, and another one has come under its name") {
        c.play("nodes decommission id=n-0");
        c.node("n-0", "vcore:10");
        c.answer("fit call=1 yes=n-0 no=n-1:why");
        CHECK(c.cycles(1) == 0);
        CHECK(c.asked() == Lines{"call 2: app/k on n-0?"});
    }
    SECTION("the queue has no headroom: evaluated anew when it has") {
        REQUIRE(c.configure("[{name: a, resources: {max: {vcore: 5m}}}]") == "ok");
        c.answer("fit call=1 yes=n-0");
        CHECK(c.cycles(1) == 0);
        REQUIRE(c.configure("[{name: a}]") == "ok");
        CHECK(c.cycles(1) == 0);
        CHECK(c.asked() == Lines{"call 2: app/k on n-0, n-1?"});
    }
    SECTION("the ask is gone") {
        c.play("alloc unask app=app key=k");
        CHECK(c.answer("fit call=1 yes=n-0") == "late");
    }
    SECTION("the ask is another one") {
        c.ask("app", "k", "vcore:3");
        CHECK(c.answer("fit call=1 yes=n-0") == "late");
        c.cycles(1);
        CHECK(c.asked() == Lines{"call 2: app/k on n-0, n-1?"});
    }
    SECTION("the RM placed it itself") {
        c.existing("app", "k", "vcore:6", "n-1");
        CHECK(c.answer("fit call=1 yes=n-0") == "late");
        CHECK(c.placed("app") == "k");
    }
    SECTION("the application is gone") {
        c.remove("app");
        CHECK(c.answer("fit call=1 yes=n-0") == "late");
        CHECK(c.core().calls_in_flight() == 0);
    }
}

TEST_CASE("I-377 sixteen nodes at a time") {
    Cluster c = asking(20);
    c.ask("app", "k", "vcore:6").cycles(1);
    const Lines first = c.asked();
    REQUIRE(first.size() == 1);
    CHECK(nodes_in(first[0]) == 16);
    c.answer("fit call=1"); // none of them is named
    CHECK(c.cycles(1) == 0);
    const Lines second = c.asked();
    REQUIRE(second.size() == 1);
    CHECK(nodes_in(second[0]) == 4);
    CHECK_THAT(second[0], !Catch::Contains("n-0"));
    c.answer("fit call=2 yes=n-9");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("app", "k") == "n-9");
}

TEST_CASE("I-378 no more calls at a time than allowed") {
    Cluster c;
    RmCallOptions options;
    options.predicates = true;
    options.in_flight = 2;
    c.core().set_rm_calls(options);
    c.nodes(1, "vcore:10").application("app").asks("app", 4, "vcore:1");
    c.cycles(1);
    CHECK(c.asked() == Lines{"call 1: app/app-0 on n-0?", "call 2: app/app-1 on n-0?"});
    c.answer("fit call=2 yes=n-0");
    CHECK(c.cycles(1) == 1); // the answered one, although others could be asked for again
    CHECK(c.placed("app") == "app-1");
    c.cycles(1);
    CHECK(c.asked() == Lines{"call 3: app/app-2 on n-0?"});
    CHECK(c.core().calls_in_flight() == 2);
}

TEST_CASE("I-379 after a timeout the ask waits 1 s, then twice as long, 30 s at most") {
    Cluster c = asking(1);
    c.ask("app", "k", "vcore:6").cycles(1);
    int call = 1;
    for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
        CHECK(c.asked() == Lines{fmt::format("call {}: app/k on n-0?", call)});
        REQUIRE(c.answer(fmt::format("timeout call={}", call++)) == "ok");
        c.advance(seconds(wait) - milliseconds(1)).cycles(1);
        CHECK(c.asked() == Lines{});
        c.advance(milliseconds(1)).cycles(1);
    }
    CHECK(c.reasons("app", "k") == "predicate call timed out (7)");
    c.answer(fmt::format("fit call={} yes=n-0", call));
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("I-379, S-605, I-601 the reasons go to the ask's log and into one event in 15 s") {
    Cluster c = asking(3);
    c.ask("app", "k", "vcore:6").cycles(1);
    c.answer("fit call=1 no=n-0:zone,n-1:taint,n-2:zone");
    c.cycles(1);
    CHECK(c.reasons("app", "k") == "zone (2); taint (1)");
    const auto notices = c.ask_events();
    REQUIRE(notices.size() == 1);
    CHECK(notices.front().find("taint (1x), zone (2x)") != std::string::npos);
    c.advance(seconds(1)).cycles(1);
    c.answer("failed call=2 error=down");
    c.cycles(1);
    CHECK(c.reasons("app", "k") == "zone (2); taint (1); down (3)");
    CHECK(c.ask_events().empty());
    c.advance(seconds(15)).cycles(1);
    c.answer("fit call=3");
    c.cycles(1);
    CHECK(c.ask_events().size() == 1);
}

TEST_CASE("S-605 the limit of one event in 15 s is each ask's own") {
    Cluster c = asking(1);
    c.ask("app", "k", "vcore:6").cycles(1);
    c.answer("fit call=1 no=n-0:zone");
    c.cycles(1);
    CHECK(c.ask_events().size() == 1);
    c.ask("app", "other", "vcore:5").cycles(1);
    c.asked();
    c.answer("fit call=2 no=n-0:taint");
    c.cycles(1);
    const auto notices = c.ask_events();
    REQUIRE(notices.size() == 1);
    CHECK(notices.front().find("taint (1x)") != std::string::npos);
    CHECK(notices.front().find("zone") == std::string::npos);
}

TEST_CASE("I-375 an unknown, finished or repeated answer is late and does nothing") {
    Cluster c = asking(1);
    c.ask("app", "k", "vcore:6").cycles(1);
    CHECK(c.answer("fit call=7 yes=n-0") == "late");
    CHECK(c.answer("fit call=1 yes=n-0") == "ok");
    CHECK(c.answer("fit call=1 no=n-0:why") == "late");
    CHECK(c.cycles(1) == 1);
    CHECK(c.answer("timeout call=1") == "late");
}

TEST_CASE("I-377 an ask that was refused everywhere is tried at once where there is room now") {
    Cluster c = asking(1);
    c.node("full", "vcore:10").existing("app", "x", "vcore:10", "full").ask("app", "k", "vcore:6").cycles(1);
    CHECK(c.asked() == Lines{"call 1: app/k on n-0?"});
    c.answer("fit call=1 no=n-0:why");
    c.cycles(1);
    c.release("app", "x").cycles(1);
    CHECK(c.asked() == Lines{"call 2: app/k on full?"});
    c.answer("fit call=2 yes=full");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("S-403 a node is reserved only when the RM agrees, asked with allocate = false") {
    Cluster c = asking(1);
    c.node("spare", "vcore:100", "createdrain").existing("app", "x", "vcore:8", "n-0").ask("app", "k", "vcore:6");
    c.advance(seconds(3)).cycles(1);
    CHECK(c.asked() == Lines{"call 1: reserve n-0 for app/k?"});
    CHECK(c.partition().reservations == 0);

    SECTION("it agrees") {
        c.answer("fit call=1 yes=n-0");
        c.cycles(1);
        CHECK(c.reserved_on("n-0") == "k");
        c.release("app", "x");
        CHECK(c.cycles(1) == 0);
        CHECK(c.asked() == Lines{"call 2: app/k on n-0?"}); // S-411: the node is tried as any other
        c.answer("fit call=2 yes=n-0");
        CHECK(c.cycles(1) == 1);
        CHECK(c.partition().reservations == 0);
    }
    SECTION("it does not: S-114 the failure is not logged, and it is asked again later") {
        c.answer("fit call=1 no=n-0:why");
        c.cycles(2);
        CHECK(c.asked() == Lines{});
        CHECK(c.partition().reservations == 0);
        CHECK(c.reasons("app", "k").empty());
        c.advance(seconds(1)).cycles(1);
        CHECK(c.asked() == Lines{"call 2: reserve n-0 for app/k?"});
    }
    SECTION("the node is reserved by another ask meanwhile") {
        c.ask("app", "pinned", "vcore:6", "tags=yunikorn.apache.org/requiredNode:n-0").cycles(1);
        CHECK(c.reserved_on("n-0") == "pinned");
        c.answer("fit call=1 yes=n-0");
        c.cycles(2);
        CHECK(c.reserved_on("n-0") == "pinned");
    }
}

TEST_CASE("S-412 a reserved ask that its own node does not take goes to another one that the RM agrees to") {
    Cluster c = asking(1);
    c.node("spare", "vcore:100", "createdrain").existing("app", "x", "vcore:8", "n-0").ask("app", "k", "vcore:6");
    c.advance(seconds(3)).cycles(1);
    c.answer("fit call=1 yes=n-0");
    c.cycles(1);
    REQUIRE(c.reserved_on("n-0") == "k");
    c.asked();
    c.node("n-1", "vcore:10").cycles(1);
    CHECK(c.asked() == Lines{"call 2: app/k on n-1?"});
    c.answer("fit call=2 yes=n-1");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("app", "k") == "n-1");
    CHECK(c.partition().reservations == 0);
}

TEST_CASE("P-092 a required node that the RM refuses is reserved at once") {
    Cluster c = asking(2);
    c.ask("app", "k", "vcore:6", "tags=yunikorn.apache.org/requiredNode:n-1").cycles(1);
    CHECK(c.asked() == Lines{"call 1: app/k on n-1?"});
    c.answer("fit call=1 no=n-1:why");
    c.cycles(1);
    CHECK(c.reserved_on("n-1") == "k");
    c.cycles(1);
    CHECK(c.asked() == Lines{"call 2: app/k on n-1?"});
    c.answer("fit call=2 no=n-1:why");
    c.cycles(3);
    CHECK(c.asked() == Lines{});
    c.advance(seconds(2)).cycles(1);
    CHECK(c.asked() == Lines{"call 3: app/k on n-1?"});
    c.answer("fit call=3 yes=n-1");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("S-345 an ask that waits for its RM does not count as unschedulable, a refused one does") {
    Cluster c{"[{name: a, properties: {application.unschedasks.backoff: '1'}}]"};
    c.asks_rm().nodes(1, "vcore:10").application("app").ask("app", "a", "vcore:6").ask("app", "b", "vcore:5");
    c.cycles(2);
    CHECK(c.asked() == Lines{"call 1: app/a on n-0?", "call 2: app/b on n-0?"});
    CHECK(!c.app("app").backoff_deadline);
    c.answer("fit call=1 no=n-0:why");
    c.cycles(2);
    CHECK(c.app("app").backoff_deadline);
}

TEST_CASE("G-032, EX-G5 a real ask takes the place of its placeholder on another node when the RM refuses its own") {
    Cluster c;
    c.node("n1", "vcore:4").play("apps new id=app queue=root.a gang=vcore:2");
    c.ask("app", "ph1", "vcore:2", "group=g placeholder=1").cycles(1);
    c.asks_rm().node("n2", "vcore:4").ask("app", "r1", "vcore:2", "group=g");
    CHECK(c.cycles(1) == 0);
    CHECK(c.asked() == Lines{"call 1: app/r1 on n1?"});
    c.answer("fit call=1 no=n1:why");
    CHECK(c.cycles(1) == 0);
    CHECK(c.asked() == Lines{"call 2: app/r1 on n2?"});
    c.answer("fit call=2 yes=n2");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_view("n1").allocated == c.node_view("n2").allocated);
    CHECK(c.placed("app") == "ph1");
    c.release("app", "ph1", 4);
    CHECK(c.node_of("app", "r1") == "n2");
    CHECK(c.node_view("n1").allocated.empty());
}

TEST_CASE("G-032 a real ask that the RM refuses everywhere waits, its placeholder stays") {
    Cluster c;
    c.node("n1", "vcore:4").play("apps new id=app queue=root.a gang=vcore:2");
    c.ask("app", "ph1", "vcore:2", "group=g placeholder=1").cycles(1);
    c.asks_rm().ask("app", "r1", "vcore:2", "group=g").cycles(1);
    CHECK(c.asked() == Lines{"call 1: app/r1 on n1?"});
    c.answer("fit call=1 no=n1:why");
    c.cycles(3);
    CHECK(c.asked() == Lines{});
    CHECK(c.placed("app") == "ph1");
    c.advance(seconds(1)).cycles(1);
    CHECK(c.asked() == Lines{"call 2: app/r1 on n1?"});
    c.answer("fit call=2 yes=n1");
    CHECK(c.cycles(1) == 1);
}

} // namespace yk::testing
