// SPDX-License-Identifier: Apache-2.0
// Gang scheduling: admission, placeholders, replacement and its confirmation (G-001 to G-040).

#include <catch2/catch.hpp>

#include "libcore/reports/explain.h"
#include "libcore/reports/snapshot.h"
#include "tests/unit/libcore/partition/gangs/story.h"

namespace yk::testing {

namespace {

/// EX-G2: n-0 of 10, two placeholders of 2 in group g, both placed.
GangStory two_placeholders(const std::string& more = {}) {
    GangStory c{"[{name: a, resources: {max: {memory: 10}}}]"};
    c.nodes(1, "memory:10");
    c.gang("app", "memory:4", more).placeholders("app", 2, "memory:2").cycles(2);
    c.notices();
    return c;
}

} // namespace

TEST_CASE("EX-G1 G-004 G-005 admission looks at the sort policy and at the max without root, not at usage") {
    GangStory c{"[{name: a, resources: {max: {memory: 100}}}, {name: f, resources: {max: {memory: 100}}, "
                "properties: {application.sort.policy: fair}}, {name: free}]"};
    c.nodes(1, "memory:95").application("other").ask("other", "k", "memory:90").cycles(1);
    c.gang("large", "memory:120").gang("fits", "memory:100").gang("fair", "memory:100", "", "root.f");
    c.gang("free", "memory:1000", "", "root.free");
    CHECK(c.state_of("large") == "Rejected");
    CHECK(c.state_of("fits") == "New");
    CHECK(c.state_of("fair") == "Rejected");
    CHECK(c.state_of("free") == "New");
    CHECK(c.app("large").rejected_message.find("larger than max") != std::string::npos);
    CHECK(c.app("fair").rejected_message.find("unsupported sort type") != std::string::npos);
}

TEST_CASE("G-002 D-01 a placeholder without task group is rejected aloud") {
    GangStory c;
    c.gang("app", "memory:4");
    c.notices();
    c.play("alloc ask app=app key=ph res=memory:2 placeholder=1");
    CHECK(c.notices() == Lines{"rejected ask app/ph: P_PLACEHOLDER_GROUP"});
    CHECK(c.app("app").asks.empty());
}

TEST_CASE("EX-G2 S-145 G-011 G-021 placeholders make the application Running and count apart from real allocations") {
    GangStory c{"[{name: a, resources: {max: {memory: 10}}}]"};
    c.nodes(1, "memory:10");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2");
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"accepted node n-0", "accepted application app in root.a", "application app is Accepted",
                               "allocated placeholder app/ph-1 on n-0"});
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"application app is Running", "allocated placeholder app/ph-2 on n-0"});
    CHECK(c.app("app").allocated.empty());
    CHECK(c.app("app").placeholder == Map{{"memory", 4}});
    CHECK(c.queue("root.a").allocated == Map{{"memory", 4}});
    CHECK(c.queue("root.a").pending.empty());
    CHECK(c.partition().placeholders == 2);
    CHECK(c.counters("app") == "g: placeholders 2, replaced 0, timed out 0");
}

TEST_CASE(
    "EX-G2 S-360 G-034 G-036 a real ask takes the place of a placeholder, until the confirmation in no visible total") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:2");
    CHECK(c.cycles(3) == 1);
    CHECK(c.notices() == Lines{"released app/ph-1: PLACEHOLDER_REPLACED"});
    CHECK(c.app("app").allocated.empty());
    CHECK(c.app("app").pending.empty());
    CHECK(c.app("app").placeholder == Map{{"memory", 4}});
    CHECK(c.queue("root.a").allocated == Map{{"memory", 4}});
    CHECK(c.queue("root.a").pending.empty());
    CHECK(c.partition().allocations == 2);
}

TEST_CASE("EX-G2 S-360 S-473 G-037 the confirmation swaps them in one step") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:2").cycles(1);
    c.notices();
    c.advance(std::chrono::seconds{3});
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"allocated app/r1 on n-0"});
    const ApplicationView app = c.app("app");
    CHECK(app.allocated == Map{{"memory", 2}});
    CHECK(app.placeholder == Map{{"memory", 2}});
    CHECK(c.queue("root.a").allocated == Map{{"memory", 4}});
    CHECK(c.node_view("n-0").allocated == Map{{"memory", 4}});
    CHECK(c.partition().allocations == 2);
    CHECK(c.partition().placeholders == 1);
    CHECK(c.counters("app") == "g: placeholders 2, replaced 1, timed out 0");
    REQUIRE(app.allocations.size() == 2);
    const AllocationView& real = app.allocations[1];
    CHECK(real.key == "r1");
    CHECK(real.placeholder_used);
    CHECK(real.allocation_time - real.request_time == std::chrono::seconds{3}); // since the placeholder's creation
}

TEST_CASE("G-040 I-354 an ask on its way into a placeholder's place is explained as such, whoever asks") {
    GangStory c{"[{name: a}]"};
    c.nodes(1, "memory:10");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r", "memory:2").cycles(1);
    for (const Explanation& notices : {explain_ask(*c.core().read("default"), "app", "r", c.now()),
                                       c.core().explain_preemption("default", "app", "r", c.now())}) {
        CHECK(notices.verdict == "HELD");
        REQUIRE(notices.reasons.size() == 1);
        CHECK(notices.reasons[0].code == "GANG");
        CHECK(notices.reasons[0].object == "ph-1");
    }
    CHECK(applications_with_key(*c.core().read("default"), "r") == Lines{"app"});
}

TEST_CASE("I-147 S-456 S-481 a new node lists nothing that is placed elsewhere, also when it is on its way there") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:2").cycles(1);
    for (const std::string allocation : {"key=r1 res=memory:3 group=g", "key=r1 res=memory:2 group=g",
                                         "key=ph-2 res=memory:2 group=g placeholder=1"}) {
        INFO(allocation);
        c.notices();
        c.play("nodes create id=n-9 res=memory:10 | existing app=app " + allocation); // names no node itself
        CHECK(c.notices() == Lines{"rejected node n-9: P_EXISTING_ALLOCATION"});
        CHECK(c.partition().nodes == 1);
        CHECK(c.core().check() == Lines{});
    }
    c.confirm("app", "ph-1");
    CHECK(c.node_view("n-0").allocated == Map{{"memory", 4}});
    CHECK(c.core().check() == Lines{});
}

TEST_CASE("G-037 S-600 the events of a confirmed replacement") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:2").cycles(1);
    c.events();
    c.confirm("app", "ph-1");
    CHECK(c.events() == Lines{"APP app REMOVE ALLOC_REPLACED ref=ph-1", "NODE n-0 REMOVE NODE_ALLOC ref=ph-1",
                              "APP app REMOVE REQUEST_CANCEL ref=ph-1", "NODE n-0 ADD NODE_ALLOC ref=r1",
                              "APP app ADD APP_ALLOC ref=r1"});
}

TEST_CASE("EX-G3 S-473 G-039 a smaller real ask gives the difference back") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:1").cycles(1);
    c.confirm("app", "ph-1");
    CHECK(c.queue("root.a").allocated == Map{{"memory", 3}});
    CHECK(c.node_view("n-0").allocated == Map{{"memory", 3}});
    CHECK(c.app("app").allocated == Map{{"memory", 1}});
}

TEST_CASE("EX-G4 G-038 a larger real ask empties its group, then goes the regular way") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:3");
    CHECK(c.cycles(1) == 0);
    CHECK(c.notices() == Lines{"released app/ph-1: TIMEOUT, app/ph-2: TIMEOUT"});
    c.confirm_timeout("app", "ph-1");
    CHECK(c.cycles(1) == 0); // G-031: the last one is only announced
    c.confirm_timeout("app", "ph-2");
    CHECK(c.notices() == Lines{});
    CHECK(c.counters("app") == "g: placeholders 2, replaced 0, timed out 2");
    CHECK(c.queue("root.a").allocated.empty());
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"allocated app/r1 on n-0"});
}

TEST_CASE("G-038 a type that the placeholder lacks makes the real ask larger") {
    GangStory c{"[{name: a}]"};
    c.nodes(1, "memory:10,gpu:1");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").cycles(1);
    c.notices();
    c.real("app", "r1", "memory:1,gpu:1").cycles(1);
    CHECK(c.notices() == Lines{"released app/ph-1: TIMEOUT"});
}

TEST_CASE("EX-G5 S-473 G-035 on another node the real ask takes its room at once, the placeholder keeps its own") {
    GangStory c;
    c.node("n-1", "memory:4");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").cycles(1);
    c.node("n-2", "memory:4").pinned("app", "r1", "memory:2", "n-2"); // n-1 will not do
    c.notices();
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"released app/ph-1: PLACEHOLDER_REPLACED"});
    CHECK(c.node_view("n-2").allocated == Map{{"memory", 2}});
    CHECK(c.node_view("n-1").allocated == Map{{"memory", 2}});
    CHECK(c.queue("root.a").allocated == Map{{"memory", 2}});
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"allocated app/r1 on n-2"});
    CHECK(c.node_view("n-1").allocated.empty());
    CHECK(c.node_view("n-2").allocated == Map{{"memory", 2}});
    CHECK(c.queue("root.a").allocated == Map{{"memory", 2}});
    CHECK(c.node_of("app", "r1") == "n-2");
}

TEST_CASE("G-035 another node must be schedulable, have room and not be kept for others") {
    GangStory c;
    c.node("n-1", "memory:9");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").cycles(1);
    c.node("n-2", "memory:4", "createdrain").pinned("app", "r1", "memory:2", "n-2");
    CHECK(c.cycles(2) == 0);
    c.application("full").existing("full", "k", "memory:3", "n-2");
    c.play("nodes schedulable id=n-2");
    CHECK(c.cycles(2) == 0);
    c.ask("full", "next", "memory:4", "tags=yunikorn.apache.org/requiredNode:n-2").cycles(1);
    REQUIRE(c.reserved_on("n-2") == "next");
    c.release("full", "k");
    c.play("nodes update id=n-2 res=memory:3"); // too small for the one it is kept for
    CHECK(c.cycles(2) == 0);
    c.release("full", "next");
    CHECK(c.cycles(1) == 1);
    c.confirm("app", "ph-1");
    CHECK(c.node_of("app", "r1") == "n-2");
}

TEST_CASE("G-034 a placeholder on the right node is taken before one elsewhere") {
    GangStory c{"[{name: a}]", "", "nodesortpolicy: {type: binpacking}"};
    c.node("n-1", "memory:2").node("n-2", "memory:4");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    REQUIRE(c.node_of("app", "ph-2") == "n-2");
    c.pinned("app", "r1", "memory:2", "n-2");
    c.notices();
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"released app/ph-2: PLACEHOLDER_REPLACED"});
}

TEST_CASE("EX-G6 G-030 G-031 more real asks than placeholders wait until the last one is confirmed gone") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").cycles(1);
    c.real("app", "r1", "memory:2").real("app", "r2", "memory:2");
    c.notices();
    CHECK(c.cycles(3) == 1);
    CHECK(c.notices() == Lines{"released app/ph-1: PLACEHOLDER_REPLACED"});
    CHECK(c.app("app").pending == Map{{"memory", 2}});
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"allocated app/r1 on n-0"});
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"allocated app/r2 on n-0"});
}

TEST_CASE("G-030 real asks without group or of an unknown group go the regular way at once") {
    GangStory c = two_placeholders();
    c.ask("app", "plain", "memory:1").ask("app", "other", "memory:1", "group=unknown");
    CHECK(c.cycles(2) == 2);
    CHECK(c.notices() == Lines{"allocated app/plain on n-0", "allocated app/other on n-0"});
}

TEST_CASE("G-030 equal asks of two groups: only those with placeholders wait") {
    GangStory c;
    c.nodes(1, "memory:4");
    c.gang("app", "memory:20");
    c.placeholder("app", "waits", "memory:20"); // fits nowhere, so its group never has a placed one
    c.real("app", "r-g", "memory:1", "g").real("app", "r-h", "memory:1", "h").ask("app", "r", "memory:1");
    CHECK(c.cycles(4) == 2);
    CHECK(c.placed("app") == "r r-h");
    CHECK(explain_ask(*c.core().read("default"), "app", "r-g", c.now()).reasons.front().code == "GANG");
}

TEST_CASE("G-030 asks that came before the placeholders of their group wait, too") {
    GangStory c;
    c.gang("app", "memory:4");
    c.real("app", "r1", "memory:2").placeholder("app", "ph", "memory:2", "g", "prio=-5");
    c.nodes(1, "memory:10");
    CHECK(c.cycles(1) == 1);
    CHECK(c.placed("app") == "ph");
    CHECK(c.cycles(2) == 1);
    CHECK(c.app("app").pending.empty());
}

TEST_CASE("G-010 R-010 an ask that waits for a placeholder counts in priority and pending") {
    GangStory c = two_placeholders();
    c.cycles(1);
    c.real("app", "r1", "memory:2", "g", "prio=7");
    CHECK(c.queue("root.a").current_priority == 7);
    CHECK(c.queue("root.a").pending == Map{{"memory", 2}});
    CHECK(c.app("app").max_ask_priority == 7);
    c.cycles(1);
    CHECK(c.queue("root.a").current_priority == INT32_MIN);
}

TEST_CASE("G-025 updating a pending placeholder does not count it again, another group takes it along") {
    GangStory c;
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2");
    c.placeholder("app", "ph-1", "memory:3");
    CHECK(c.counters("app") == "g: placeholders 2, replaced 0, timed out 0");
    CHECK(c.app("app").placeholder_data[0].min_resource == Map{{"memory", 2}});
    c.placeholder("app", "ph-1", "memory:3", "h");
    CHECK(c.counters("app") ==
          "g: placeholders 1, replaced 0, timed out 0; h: placeholders 1, replaced 0, timed out 0");
}

TEST_CASE("G-032 the application's state does not matter: replacement begins before all placeholders are placed") {
    GangStory c;
    c.nodes(1, "memory:3");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r1", "memory:2");
    CHECK(c.state_of("app") == "Accepted");
    CHECK(c.cycles(1) == 1);
    c.notices();
    c.confirm("app", "ph-1");
    // the confirmed replacement runs it (G-013, D-02)
    CHECK(c.notices() == Lines{"application app is Running", "allocated app/r1 on n-0"});
    CHECK(c.log_of("app") == "Accepted Running");
}

TEST_CASE("G-033 replacement checks neither headroom of the queue nor running slots") {
    GangStory c{"[{name: a, maxapplications: 1, resources: {max: {memory: 4}}}]"};
    c.nodes(1, "memory:10");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r1", "memory:2").real("app", "r2", "memory:2");
    CHECK(c.cycles(3) == 2);
}

TEST_CASE("R-020 D-22 placeholders go by creation time, then key; asks in ask order") {
    GangStory c;
    c.nodes(1, "memory:20");
    c.gang("app", "memory:6");
    c.placeholder("app", "c", "memory:2").placeholder("app", "b", "memory:2");
    c.placeholder("app", "d", "memory:2", "g", "tags=creationTime:100");
    c.cycles(3);
    c.real("app", "r1", "memory:2").real("app", "r2", "memory:2", "g", "prio=1");
    c.notices();
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"released app/d: PLACEHOLDER_REPLACED"});
    c.confirm("app", "d");
    CHECK(c.notices() == Lines{"allocated app/r2 on n-0"});
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"released app/b: PLACEHOLDER_REPLACED"});
}

TEST_CASE("trap 9 two task groups: each pair belongs together") {
    GangStory c;
    c.nodes(1, "memory:20");
    c.gang("app", "memory:6");
    c.placeholder("app", "g-1", "memory:4", "g").placeholder("app", "h-1", "memory:2", "h").cycles(2);
    c.real("app", "h-r", "memory:2", "h").real("app", "g-r", "memory:4", "g");
    c.notices();
    CHECK(c.cycles(2) == 2);
    CHECK(c.notices() == Lines{"released app/h-1: PLACEHOLDER_REPLACED", "released app/g-1: PLACEHOLDER_REPLACED"});
}

TEST_CASE("trap 8 a drained node takes a same-node swap") {
    GangStory c = two_placeholders();
    c.play("nodes drain id=n-0");
    c.real("app", "r1", "memory:2");
    CHECK(c.cycles(1) == 1);
    c.confirm("app", "ph-1");
    CHECK(c.node_of("app", "r1") == "n-0");
}

TEST_CASE("S-301 at most one replacement in a cycle, and no regular allocation beside it") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:2").real("app", "r2", "memory:2").ask("app", "plain", "memory:1");
    c.cycles(1);
    CHECK(c.notices() == Lines{"released app/ph-1: PLACEHOLDER_REPLACED"});
    c.cycles(1);
    CHECK(c.notices() == Lines{"released app/ph-2: PLACEHOLDER_REPLACED"});
    c.cycles(1);
    CHECK(c.notices() == Lines{"allocated app/plain on n-0"});
}

TEST_CASE("G-040 D-06 the last confirmation does not complete the application in between") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:2").placeholders("app", 1, "memory:2").cycles(1);
    c.real("app", "r1", "memory:2").cycles(1);
    c.ask("app", "extra", "memory:1");
    c.release("app", "extra"); // nothing pending, nothing allocated, one in flight
    CHECK(c.state_of("app") == "Running");
    c.confirm("app", "ph-1");
    CHECK(c.log_of("app") == "Accepted Running");
}

TEST_CASE("G-041 S-473 a second confirmation is ignored") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:2").cycles(1);
    c.confirm("app", "ph-1");
    c.notices();
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"ignored release of app/ph-1: P_UNKNOWN_ALLOCATION"});
    CHECK(c.app("app").allocated == Map{{"memory", 2}});
    CHECK(c.counters("app") == "g: placeholders 2, replaced 1, timed out 0");
}

TEST_CASE("G-042 S-473 D-07 a confirmation without partner is a plain release") {
    GangStory c = two_placeholders();
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM"}); // S-473: echo included
    CHECK(c.queue("root.a").allocated == Map{{"memory", 2}});
    CHECK(c.counters("app") == "g: placeholders 2, replaced 0, timed out 1");
}

TEST_CASE("S-456 SD-21 the real half of a replacement in flight is not resized") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:2").cycles(1);
    c.notices();
    c.real("app", "r1", "memory:1");
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 1);
    CHECK(notices[0].find("replacement") != std::string::npos);
    c.real("app", "r1", "memory:2"); // the same again changes nothing
    CHECK(c.notices() == Lines{});
    c.confirm("app", "ph-1");
    CHECK(c.app("app").allocated == Map{{"memory", 2}});
}

TEST_CASE("S-456 a placeholder that is resized while it is replaced") {
    GangStory c = two_placeholders();
    c.real("app", "r1", "memory:2").cycles(1);
    c.placeholder("app", "ph-1", "memory:1");
    CHECK(c.queue("root.a").allocated == Map{{"memory", 3}});
    c.confirm("app", "ph-1");
    CHECK(c.queue("root.a").allocated == Map{{"memory", 4}});
}

TEST_CASE("G-080 G-081 the originator flag is echoed and changes nothing") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:2").placeholder("app", "ph-1", "memory:2", "g", "originator=1");
    c.cycles(1);
    CHECK_THAT(c.notices_in_full().back(),
               Catch::StartsWith("allocated placeholder app/ph-1 on n-0 # ") && Catch::EndsWith(", originator"));
    c.real("app", "r1", "memory:2");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("G-077 recovery: a reported placeholder restores totals, counters and timer") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:4", "timeout=500");
    c.play("alloc place app=app key=ph-1 res=memory:2 node=n-0 placeholder=1 group=g");
    c.existing("app", "plain", "memory:1", "n-0");
    CHECK(c.counters("app") == "g: placeholders 1, replaced 0, timed out 0");
    CHECK(c.app("app").placeholder == Map{{"memory", 2}});
    CHECK(c.app("app").allocated == Map{{"memory", 1}});
    c.real("app", "r1", "memory:1");
    CHECK(c.cycles(1) == 1);
    c.play("alloc place app=app key=ph-2 res=memory:2 node=n-0 placeholder=1 group=g");
    c.notices();
    c.advance(std::chrono::milliseconds{500});
    CHECK(c.notices() == Lines{"released app/ph-2: TIMEOUT"});
}

TEST_CASE("G-032 S-301 a recovered gang is replaced although no running slot is free") {
    GangStory c{"[{name: a, maxapplications: 1}]"};
    c.nodes(1, "memory:10").application("other").ask("other", "k", "memory:1").cycles(1);
    c.gang("app", "memory:4");
    c.play("alloc place app=app key=ph-1 res=memory:2 node=n-0 placeholder=1 group=g");
    c.real("app", "r1", "memory:2");
    CHECK(c.state_of("app") == "Accepted");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("G-010 G-020 a placeholder may reserve a node") {
    GangStory c;
    c.node("n-0", "memory:4").application("other").ask("other", "k", "memory:3").cycles(1);
    c.node("small", "memory:1"); // for the headroom
    c.gang("app", "memory:2").placeholder("app", "ph", "memory:2", "g", "tags=creationTime:100");
    c.cycles(1);
    CHECK(c.reserved_on("n-0") == "ph");
}

TEST_CASE("S-345 S-341 an ask that waits for a placeholder does not count as unschedulable") {
    GangStory c{"[{name: a, properties: {application.unschedasks.backoff: '1'}}]"};
    c.nodes(11, "memory:4");
    c.gang("app", "memory:40").placeholder("app", "ph", "memory:40", "g", "prio=-1"); // fits nowhere
    c.real("app", "r1", "memory:1").real("app", "r2", "memory:2").ask("app", "fits", "memory:1", "prio=-2");
    CHECK(c.cycles(1) == 0);
    CHECK(c.app("app").backoff_deadline.has_value()); // `ph` counted, and `fits` stood behind it
    c.release("app", "ph");
    c.advance(std::chrono::seconds{31});
    CHECK(c.cycles(3) == 3);
}

} // namespace yk::testing
