// SPDX-License-Identifier: Apache-2.0
// scheduling.md sections 8 and 9: reservations and required nodes.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::string required(const std::string& node) {
    return "tags=yunikorn.apache.org/requiredNode:" + node;
}

/// A drained node: room in the cluster, so that headrooms let an ask pass, but not on any node.
constexpr const char* kSpare = "createdrain";

/// One full node `n-0` (holder/used), and one ask `app/k` of 6 that is old enough to reserve it.
Cluster reserved() {
    Cluster c;
    c.node("spare", "vcore:100", kSpare).nodes(1, "vcore:10").application("holder").application("app");
    c.existing("holder", "used", "vcore:8", "n-0").ask("app", "k", "vcore:6").advance(seconds(3));
    c.cycles(1);
    CHECK(c.reserved_on("n-0") == "k");
    return c;
}

} // namespace

TEST_CASE("S-403 an ask reserves when it is older than 2 s, not at 2 s") {
    Cluster c;
    c.node("spare", "vcore:100", kSpare).nodes(1, "vcore:10").application("holder").application("app");
    c.existing("holder", "used", "vcore:8", "n-0").ask("app", "k", "vcore:6");
    c.advance(seconds(2));
    c.cycles(1);
    CHECK(c.partition().reservations == 0);
    c.advance(std::chrono::milliseconds(1));
    c.cycles(1);
    CHECK(c.partition().reservations == 1);
    CHECK(c.app("app").reservations == std::vector<std::string>{"k"});
}

TEST_CASE("S-403 the node that lacks least, the first in node order on ties") {
    Cluster c;
    c.node("a", "vcore:10").node("b", "vcore:10").node("c", "vcore:10").application("h").application("app");
    c.existing("h", "1", "vcore:9", "a").existing("h", "2", "vcore:7", "b").existing("h", "3", "vcore:7", "c");
    c.ask("app", "k", "vcore:6").advance(seconds(3));
    c.cycles(1);
    CHECK(c.reserved_on("b") == "k");
}

TEST_CASE("S-402 disabled reservations") {
    Settings settings = Cluster::manual_settings();
    settings.reservations_disabled = true;
    Cluster c{"[{name: a}]", "", "", settings};
    c.node("spare", "vcore:100", kSpare)
        .nodes(1, "vcore:10")
        .application("h")
        .application("app")
        .existing("h", "used", "vcore:8", "n-0");
    c.ask("app", "k", "vcore:6").advance(seconds(30));
    c.cycles(2);
    CHECK(c.partition().reservations == 0);
    c.ask("app", "daemon", "vcore:6", required("n-0"));
    c.cycles(1);
    CHECK(c.reserved_on("n-0") == "daemon");
}

TEST_CASE("S-405 two nodes, three equal asks of which two fit") {
    Cluster c;
    c.nodes(2, "vcore:10").application("app").asks("app", 3, "vcore:6");
    CHECK(c.cycles(3) == 2);
    c.advance(seconds(3));
    c.cycles(1);
    CHECK(c.reserved_on("n-0") == "app-2");
    c.ask("app", "small", "vcore:4");
    c.ask("app", "other", "vcore:4");
    CHECK(c.cycles(3) == 1); // only n-1 takes one
    CHECK(c.node_of("app", "small") == "n-1");
}

TEST_CASE("S-411 the reserved ask is placed on its node as soon as it fits") {
    Cluster c = reserved();
    c.notices();
    c.events();
    c.release("holder", "used");
    c.events();
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("app", "k") == "n-0");
    CHECK(c.partition().reservations == 0);
    CHECK(c.events() == std::vector<std::string>{"NODE n-0 ADD NODE_ALLOC ref=k", "APP app SET APP_RUNNING",
                                                 "APP app ADD APP_ALLOC ref=k",
                                                 "NODE n-0 REMOVE NODE_RESERVATION ref=k"});
}

TEST_CASE("S-412 S-416 another node takes the reserved ask") {
    Cluster c;
    c.nodes(2, "vcore:50").application("h").application("x").application("y");
    c.existing("h", "1", "vcore:40", "n-0").existing("h", "2", "vcore:40", "n-1");
    c.node("n-2", "vcore:50", "createdrain");
    c.ask("x", "kx", "vcore:20").ask("y", "ky", "vcore:20").advance(seconds(3));
    c.cycles(2);
    CHECK(c.partition().reservations == 2);
    c.play("nodes schedulable id=n-2");
    CHECK(c.cycles(2) == 2);
    CHECK(c.node_of("x", "kx") == "n-2");
    CHECK(c.node_of("y", "ky") == "n-2");
    CHECK(c.partition().reservations == 0);
}

TEST_CASE("S-413 P-080 a reservation whose ask has no headroom is dropped after 60 minutes") {
    Cluster c = reserved();
    CHECK(c.configure("[{name: a, resources: {max: {vcore: 5m}}}]") == "ok");
    c.advance(minutes(60));
    c.cycles(1);
    CHECK(c.reserved_on("n-0") == "k");
    c.advance(seconds(1));
    c.cycles(1);
    CHECK(c.partition().reservations == 0);
    CHECK(c.app("app").reservations.empty());
    CHECK(c.core().find_partition("default")->state().queues.find("root.a")->reserved_applications.empty());
    CHECK(c.reserved_on("n-0") == "");
}

TEST_CASE("S-413 as long as its ask has headroom a reservation stays") {
    Cluster c = reserved();
    c.advance(minutes(200));
    c.cycles(2);
    CHECK(c.reserved_on("n-0") == "k");
}

TEST_CASE("S-415 what removes a reservation") {
    Cluster c = reserved();
    SECTION("its ask is released") {
        c.release("app", "k");
    }
    SECTION("all asks are released") {
        c.release("app", "");
    }
    SECTION("the old list releases it") {
        c.play("alloc unask app=app key=k");
    }
    SECTION("the application is removed") {
        c.remove("app");
    }
    SECTION("the node is decommissioned") {
        c.play("nodes decommission id=n-0");
    }
    SECTION("the node is drained") {
        c.play("nodes drain id=n-0");
    }
    SECTION("the RM places the ask itself") {
        c.existing("app", "k", "vcore:6", "n-0");
    }
    SECTION("the ask grows above the node") {
        c.ask("app", "k", "vcore:11");
    }
    CHECK(c.partition().reservations == 0);
    CHECK(c.app("app").reservations.empty());
    CHECK(c.reserved_on("n-0").empty());
    const auto events = c.events();
    CHECK(std::count(events.begin(), events.end(), "NODE n-0 REMOVE NODE_RESERVATION ref=k") == 1);
}

TEST_CASE("S-415 a resize within the node keeps the reservation, a reused key does not inherit one") {
    Cluster c = reserved();
    c.ask("app", "k", "vcore:10");
    CHECK(c.reserved_on("n-0") == "k");
    c.release("app", "k").ask("app", "k", "vcore:6");
    CHECK(c.partition().reservations == 0);
}

TEST_CASE("section 22 no. 5 reservations block the nodes for everybody else") {
    Cluster c;
    c.node("n1", "vcore:50").node("n2", "vcore:50").application("app-1");
    for (int i = 0; i < 4; ++i) c.existing("app-1", fmt::format("u{}", i), "vcore:20", i < 2 ? "n1" : "n2");
    c.application("app-2").advance(seconds(1)).application("app-3");
    c.asks("app-2", 2, "vcore:20").advance(seconds(3)).asks("app-3", 2, "vcore:5");
    c.cycles(1);
    CHECK(c.reserved_on("n1") == "app-2-0");
    c.cycles(1);
    CHECK(c.reserved_on("n2") == "app-2-1");
    CHECK(c.cycles(5) == 0);
    c.remove("app-1");
    CHECK(c.cycles(2) == 2);
    CHECK(c.allocations_of("app-2") == 2);
    CHECK(c.cycles(2) == 2);
    CHECK(c.allocations_of("app-3") == 2);
}

// --- required node --------------------------------------------------------------------------------------------------

TEST_CASE("S-430 S-431 a required node is the only one, drained or not") {
    Cluster c;
    c.nodes(2, "vcore:10").application("app").ask("app", "k", "vcore:4", required("n-1"));
    c.ask("app", "lost", "vcore:1", required("nowhere")).ask("app", "other", "vcore:9");
    c.play("nodes drain id=n-1");
    CHECK(c.cycles(4) == 2);
    CHECK(c.node_of("app", "k") == "n-1");
    CHECK(c.node_of("app", "other") == "n-0");
    c.node("nowhere", "vcore:5");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("app", "lost") == "nowhere");
}

TEST_CASE("S-434 required-node asks share the reservation of their node") {
    Cluster c;
    c.node("spare", "vcore:100", kSpare).node("n", "vcore:10").application("ds");
    c.ask("ds", "ask-1", "vcore:8", required("n")).ask("ds", "ask-2", "vcore:8", required("n"));
    c.ask("ds", "ask-3", "vcore:1", required("n"));
    CHECK(c.cycles(1) == 1);
    CHECK(c.cycles(1) == 0);
    CHECK(c.reserved_on("n") == "ask-2");
    CHECK(c.cycles(1) == 0); // it would fit beside ask-1
    CHECK(c.reserved_on("n") == "ask-2 ask-3");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("ds", "ask-3") == "n");
    c.release("ds", "ask-1");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("ds", "ask-2") == "n");
    CHECK(c.partition().reservations == 0);
}

TEST_CASE("S-432 a required-node ask cancels ordinary reservations on its node") {
    Cluster c = reserved();
    c.application("ds").ask("ds", "d", "vcore:9", required("n-0") + " prio=1");
    c.cycles(1);
    CHECK(c.reserved_on("n-0") == "d");
    CHECK(c.app("app").reservations.empty());
}

TEST_CASE("S-415 draining keeps required-node reservations") {
    Cluster c;
    c.node("spare", "vcore:100", kSpare).node("n", "vcore:10").application("h").application("ds");
    c.existing("h", "used", "vcore:8", "n");
    c.ask("ds", "d", "vcore:5", required("n"));
    c.cycles(1);
    c.play("nodes drain id=n");
    CHECK(c.reserved_on("n") == "d");
    c.release("h", "used");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("S-435 a required-node ask larger than its node does not starve the others") {
    Cluster c;
    c.node("n", "vcore:10").application("ds").ask("ds", "huge", "vcore:11", required("n") + " prio=9");
    c.ask("ds", "small", "vcore:1");
    CHECK(c.cycles(1) == 1);
    CHECK(c.placed("ds") == "small");
    CHECK(c.partition().reservations == 0);
}

TEST_CASE("S-430 headrooms apply to required-node asks") {
    Cluster c{"[{name: a, resources: {max: {vcore: 5m}}}]"};
    c.node("n", "vcore:10").application("ds").ask("ds", "d", "vcore:6", required("n"));
    CHECK(c.cycles(2) == 0);
    CHECK(c.partition().reservations == 0);
}

} // namespace yk::testing
