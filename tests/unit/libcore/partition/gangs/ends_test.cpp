// SPDX-License-Identifier: Apache-2.0
// Gang scheduling: every way in which a placeholder, its successor or their application ends (G-042 to G-077).

#include <catch2/catch.hpp>

#include "tests/unit/libcore/partition/gangs/story.h"

namespace yk::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// One placeholder of 2 on n-1 and a real ask for it in flight, on the same node.
GangStory in_flight(const std::string& real = "memory:2") {
    GangStory c;
    c.node("n-1", "memory:4");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").cycles(1);
    c.real("app", "r1", real).cycles(1);
    c.notices();
    return c;
}

/// The same, the real one on n-2.
GangStory in_flight_elsewhere() {
    GangStory c;
    c.node("n-1", "memory:4");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").cycles(1);
    c.node("n-2", "memory:4").pinned("app", "r1", "memory:2", "n-2").cycles(1);
    c.notices();
    return c;
}

} // namespace

// --- the placeholder ends in another way (G-043) --------------------------------------------------------------------

TEST_CASE("G-043 D-08 a placeholder stopped during a swap on its node: the real one takes its place") {
    GangStory c = in_flight();
    c.release("app", "ph-1", 1);
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM", "allocated app/r1 on n-1"});
    CHECK(c.app("app").allocated == Map{{"memory", 2}});
    CHECK(c.counters("app") == "g: placeholders 1, replaced 1, timed out 0");
}

TEST_CASE("G-043 with TIMEOUT there is no echo") {
    GangStory c = in_flight();
    c.confirm_timeout("app", "ph-1");
    CHECK(c.notices() == Lines{"allocated app/r1 on n-1"});
}

TEST_CASE("G-043 D-08 when the node cannot hold the real one any more it waits again") {
    GangStory c = in_flight();
    c.play("nodes update id=n-1 res=memory:1");
    c.release("app", "ph-1", 1);
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM"});
    CHECK(c.app("app").pending == Map{{"memory", 2}});
    CHECK(c.counters("app") == "g: placeholders 1, replaced 0, timed out 1");
    c.play("nodes update id=n-1 res=memory:4");
    CHECK(c.cycles(1) == 1); // its group has no placeholder left: the regular way
    CHECK(c.notices() == Lines{"allocated app/r1 on n-1"});
}

TEST_CASE("G-043 on another node the real one has its place already") {
    GangStory c = in_flight_elsewhere();
    c.release("app", "ph-1", 1);
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM", "allocated app/r1 on n-2"});
    CHECK(c.node_view("n-1").allocated.empty());
    CHECK(c.node_view("n-2").allocated == Map{{"memory", 2}});
}

// --- the real one ends (G-044) --------------------------------------------------------------------------------------

TEST_CASE("G-044 D-08 a real ask cancelled in flight is gone at once, its placeholder follows as a plain removal") {
    const std::string verb = GENERATE("release", "unask");
    GangStory c = in_flight_elsewhere();
    c.play("alloc " + verb + " app=app key=r1 type=1");
    CHECK(c.notices() == Lines{}); // the RM was never told of it
    CHECK(c.node_view("n-2").allocated.empty());
    CHECK(c.app("app").pending.empty());
    CHECK(c.cycles(2) == 0);
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"application app is Completing", "released app/ph-1: STOPPED_BY_RM"});
    CHECK(c.counters("app") == "g: placeholders 1, replaced 0, timed out 1");
    CHECK(c.queue("root.a").allocated.empty());
}

TEST_CASE("G-044 S-470 a TIMEOUT for a real ask in flight confirms nothing") {
    GangStory c = in_flight();
    c.confirm_timeout("app", "r1");
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"allocated app/r1 on n-1"});
}

// --- cancelled, stopped (G-026, G-060 to G-062, G-072) --------------------------------------------------------------

TEST_CASE("G-026 D-05 cancelling pending placeholders does not starve the real asks of their group") {
    GangStory c;
    c.nodes(1, "memory:3");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").real("app", "r1", "memory:1").cycles(1);
    c.play("alloc unask app=app key=ph-2 type=1");
    CHECK(c.counters("app") == "g: placeholders 2, replaced 0, timed out 1");
    c.release("app", "ph-1");
    CHECK(c.counters("app") == "g: placeholders 2, replaced 0, timed out 2");
    CHECK(c.cycles(2) == 1);
}

TEST_CASE("G-062 cancelling the last pending placeholder does not complete while others are placed") {
    GangStory c;
    c.nodes(1, "memory:3");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.play("alloc unask app=app key=ph-2 type=1");
    CHECK(c.state_of("app") == "Accepted");
}

TEST_CASE("G-072 a placeholder stopped by the RM is echoed and its key can be used again") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.notices();
    c.release("app", "ph-1", 0);
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM"});
    c.placeholders("app", 1, "memory:2");
    CHECK(c.counters("app") == "g: placeholders 3, replaced 0, timed out 1");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("EX-G10 G-060 G-056 a completing application lets its placeholders go after 30 s, then ends") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r1", "memory:2").cycles(1);
    c.confirm("app", "ph-1");
    c.release("app", "r1");
    CHECK(c.state_of("app") == "Completing");
    CHECK(c.app("app").placeholder == Map{{"memory", 2}});
    c.notices();
    c.advance(std::chrono::milliseconds{29'999});
    CHECK(c.notices() == Lines{});
    c.advance(std::chrono::milliseconds{1});
    CHECK(c.notices() == Lines{"released app/ph-2: TIMEOUT"});
    CHECK(c.state_of("app") == "Completing");
    c.confirm_timeout("app", "ph-2");
    CHECK(c.notices() == Lines{"application app is Completed"});
    CHECK(c.counters("app") == "g: placeholders 2, replaced 1, timed out 1");
}

TEST_CASE("G-061 the last placeholder ends a completing application at once") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").ask("app", "plain", "memory:1").cycles(2);
    c.release("app", "plain");
    CHECK(c.state_of("app") == "Completing");
    c.release("app", "ph-1");
    CHECK(c.state_of("app") == "Completed");
}

TEST_CASE("G-060 the last placeholder of an application without anything else completes it") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").cycles(1);
    c.release("app", "ph-1");
    CHECK(c.state_of("app") == "Completing");
}

TEST_CASE("G-016 D-03 a gang that ends before it runs gives its slot back on every level") {
    GangStory c{"[{name: p, parent: true, maxapplications: 1, queues: [{name: l, maxapplications: 1}]}]"};
    c.nodes(1, "memory:3");
    c.gang("app", "memory:4", "style=Hard timeout=200", "root.p.l").placeholders("app", 2, "memory:2").cycles(1);
    REQUIRE(c.queue("root.p").allocating_accepted == Lines{"app"});
    c.advance(milliseconds{200});
    c.confirm_timeout("app", "ph-1");
    CHECK(c.state_of("app") == "Failed");
    CHECK(c.queue("root.p").allocating_accepted.empty());
    c.application("next", "root.p.l").ask("next", "k", "memory:1");
    CHECK(c.cycles(1) == 1);
}

// --- the application goes (G-070, G-071) ----------------------------------------------------------------------------

TEST_CASE("G-070 D-08 D-11 removing an application with a swap in flight leaves nothing behind") {
    GangStory c = in_flight_elsewhere();
    c.remove("app");
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM"});
    CHECK(c.node_view("n-1").allocated.empty());
    CHECK(c.node_view("n-2").allocated.empty());
    CHECK(c.partition().placeholders == 0);
    CHECK(c.partition().allocations == 0);
    CHECK(c.queue("root.a").allocated.empty());
    c.confirm("app", "ph-1"); // late
    CHECK(c.notices() == Lines{"ignored release of app/ph-1: P_APP_UNKNOWN"});
}

TEST_CASE("G-071 releasing everything takes what is in flight along") {
    GangStory c = in_flight_elsewhere();
    c.play("alloc release app=app type=1");
    CHECK(c.notices() == Lines{"application app is Completing", "released app/ph-1: STOPPED_BY_RM"});
    CHECK(c.node_view("n-2").allocated.empty());
    CHECK(c.counters("app") == "g: placeholders 1, replaced 0, timed out 1");
}

TEST_CASE("G-044 I-155 releasing all asks takes those in flight along, the placeholder stays on its way out") {
    GangStory c = in_flight();
    c.play("alloc unask app=app type=1");
    CHECK(c.app("app").placeholder == Map{{"memory", 2}});
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"application app is Completing", "released app/ph-1: STOPPED_BY_RM"});
}

// --- the node goes (G-073 to G-076) ---------------------------------------------------------------------------------

TEST_CASE("G-073 S-485 D-11 the placeholder's node goes: the real one elsewhere is confirmed") {
    GangStory c = in_flight_elsewhere();
    c.play("nodes decommission id=n-1");
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM", "allocated app/r1 on n-2"});
    CHECK(c.app("app").allocated == Map{{"memory", 2}});
    CHECK(c.counters("app") == "g: placeholders 1, replaced 1, timed out 0");
    CHECK(c.partition().placeholders == 0);
    CHECK(c.partition().allocations == 1);
}

TEST_CASE("G-074 S-485 the node of both goes: the real one waits again") {
    GangStory c = in_flight();
    c.play("nodes decommission id=n-1");
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM"});
    CHECK(c.app("app").pending == Map{{"memory", 2}});
    CHECK(c.counters("app") == "g: placeholders 1, replaced 0, timed out 1");
    c.node("n-9", "memory:4");
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"accepted node n-9", "allocated app/r1 on n-9"});
}

TEST_CASE("G-075 S-485 only the real one's node goes: it waits again and nothing is said about it") {
    GangStory c = in_flight_elsewhere();
    c.play("nodes decommission id=n-2");
    CHECK(c.notices() == Lines{});
    CHECK(c.app("app").pending == Map{{"memory", 2}});
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM"});
    CHECK(c.counters("app") == "g: placeholders 1, replaced 0, timed out 1");
    CHECK(c.partition().placeholders == 0);
}

TEST_CASE("G-076 a removed node with plain placeholders corrects every total") {
    GangStory c;
    c.node("n-1", "memory:4");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.play("nodes decommission id=n-1");
    CHECK(c.counters("app") == "g: placeholders 2, replaced 0, timed out 2");
    CHECK(c.partition().placeholders == 0);
    CHECK(c.queue("root.a").allocated.empty());
}

} // namespace yk::testing
