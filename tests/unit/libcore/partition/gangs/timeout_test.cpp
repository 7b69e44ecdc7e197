// SPDX-License-Identifier: Apache-2.0
// Gang scheduling: the placeholder time-out in every state (G-003, G-007, G-022, G-050 to G-057).

#include <catch2/catch.hpp>

#include "tests/unit/libcore/partition/gangs/story.h"

namespace yk::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// EX-G7: one node of 4, a gang of three placeholders of 2; two are placed, the third waits.
GangStory incomplete(const std::string& style) {
    GangStory c;
    c.nodes(1, "memory:4");
    c.gang("app", "memory:6", "timeout=200 style=" + style).placeholders("app", 3, "memory:2").cycles(3);
    c.notices();
    return c;
}

} // namespace

TEST_CASE("EX-G7 G-051 G-052 a soft gang is resumed and runs on as an ordinary application") {
    GangStory c = incomplete("Soft");
    CHECK(c.state_of("app") == "Accepted");
    c.advance(milliseconds{199});
    CHECK(c.notices() == Lines{});
    c.advance(milliseconds{1});
    CHECK(c.notices() == Lines{"application app is Resuming", "released app/ph-1: TIMEOUT, app/ph-2: TIMEOUT",
                               "released app/ph-3: TIMEOUT"});
    CHECK(c.app("app").pending.empty());
    CHECK(c.queue("root.a").pending.empty());
    c.confirm_timeout("app", "ph-1");
    CHECK(c.notices() == Lines{});
    c.confirm_timeout("app", "ph-2");
    CHECK(c.notices() == Lines{"application app is Accepted"});
    CHECK(c.counters("app") == "g: placeholders 3, replaced 0, timed out 3");
    CHECK(c.queue("root.a").allocated.empty());
    c.real("app", "r1", "memory:2"); // of a group that is timed out: an ordinary ask (G-057)
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"application app is Running", "allocated app/r1 on n-0"});
}

TEST_CASE("EX-G8 G-051 G-054 a hard gang fails") {
    GangStory c = incomplete("Hard");
    c.real("app", "r1", "memory:3", "other-group");
    c.advance(milliseconds{200});
    CHECK(c.notices() == Lines{"application app is Failing", "released app/ph-1: TIMEOUT, app/ph-2: TIMEOUT",
                               "released app/ph-3: TIMEOUT, app/r1: TIMEOUT"});
    c.confirm_timeout("app", "ph-1");
    CHECK(c.state_of("app") == "Failing");
    c.confirm_timeout("app", "ph-2");
    CHECK(c.notices() == Lines{"application app is Failed"});
    CHECK(c.app("app").list == ApplicationList::Completed);
    CHECK(c.counters("app") ==
          "g: placeholders 3, replaced 0, timed out 3"); // D-09: the real ask is no timed-out placeholder
    CHECK(c.queue("root.a").applications == 0);
    CHECK(c.queue("root.a").allocated.empty());
    CHECK(c.queue("root.a").pending.empty());
}

TEST_CASE("S-563 G-054 a gang that is failing goes with its partition, placeholders included") {
    GangStory c = incomplete("Hard");
    c.advance(milliseconds{200});
    CHECK(c.notices() == Lines{"application app is Failing", "released app/ph-1: TIMEOUT, app/ph-2: TIMEOUT",
                               "released app/ph-3: TIMEOUT"});
    c.core().drop_everything(c.now());
    CHECK(c.notices() == Lines{"released app/ph-1: STOPPED_BY_RM, app/ph-2: STOPPED_BY_RM"});
}

TEST_CASE("G-051 D-09 soft keeps pending real asks, of unknown groups too") {
    GangStory c = incomplete("Soft");
    c.real("app", "r1", "memory:3").real("app", "r2", "memory:9", "never-seen");
    c.advance(milliseconds{200});
    CHECK(c.notices() == Lines{"application app is Resuming", "released app/ph-1: TIMEOUT, app/ph-2: TIMEOUT",
                               "released app/ph-3: TIMEOUT"});
    CHECK(c.app("app").pending == Map{{"memory", 12}});
}

TEST_CASE("G-051 D-09 a swap in flight is not released twice: soft lets it finish") {
    GangStory c = incomplete("Soft");
    c.real("app", "r1", "memory:2").cycles(1);
    c.notices();
    c.advance(milliseconds{200});
    CHECK(c.notices() ==
          Lines{"application app is Resuming", "released app/ph-2: TIMEOUT", "released app/ph-3: TIMEOUT"});
    c.confirm("app", "ph-1");
    CHECK(c.notices() ==
          // the confirmed replacement runs it (G-013)
          Lines{"application app is Accepted", "application app is Running", "allocated app/r1 on n-0"});
    c.confirm_timeout("app", "ph-2");
    CHECK(c.state_of("app") == "Running");
    CHECK(c.counters("app") == "g: placeholders 3, replaced 1, timed out 2");
}

TEST_CASE("G-051 hard takes the real half of a swap in flight as a pending ask") {
    GangStory c = incomplete("Hard");
    c.real("app", "r1", "memory:2").cycles(1);
    c.notices();
    c.advance(milliseconds{200});
    CHECK(c.notices() == Lines{"application app is Failing", "released app/ph-2: TIMEOUT",
                               "released app/r1: TIMEOUT, app/ph-3: TIMEOUT"});
    c.confirm_timeout("app", "ph-2");
    CHECK(c.state_of("app") == "Failing");
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"application app is Failed", "released app/ph-1: STOPPED_BY_RM"});
    CHECK(c.counters("app") == "g: placeholders 3, replaced 0, timed out 3");
}

TEST_CASE(
    "G-012 G-013 G-054 D-02 a real allocation in Resuming makes the application Running, the rest goes by itself") {
    GangStory c = incomplete("Soft");
    c.node("n-9", "memory:2");
    c.advance(milliseconds{200});
    c.ask("app", "plain", "memory:2");
    c.notices();
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() ==
          Lines{"application app is Accepted", "application app is Running", "allocated app/plain on n-9"});
    c.confirm_timeout("app", "ph-1").confirm_timeout("app", "ph-2");
    CHECK(c.state_of("app") == "Running");
}

TEST_CASE("EX-G9 G-050 G-053 in Running the time-out takes the one that was not replaced, the application stays") {
    GangStory c;
    c.nodes(1, "memory:4");
    c.gang("app", "memory:4", "timeout=200 style=Hard").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r1", "memory:2").cycles(1);
    c.confirm("app", "ph-1");
    c.notices();
    c.advance(milliseconds{200});
    CHECK(c.notices() == Lines{"released app/ph-2: TIMEOUT"});
    c.confirm_timeout("app", "ph-2");
    CHECK(c.notices() == Lines{});
    CHECK(c.state_of("app") == "Running");
    CHECK(c.counters("app") == "g: placeholders 2, replaced 1, timed out 1");
    CHECK(c.queue("root.a").allocated == Map{{"memory", 2}});
}

TEST_CASE("G-050 in Running only the placeholders go, pending ones too") {
    GangStory c;
    c.nodes(1, "memory:5");
    c.gang("app", "memory:4", "timeout=300 style=Hard").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r1", "memory:2").cycles(1);
    c.confirm("app", "ph-1");
    c.placeholder("app", "late", "memory:2");
    c.cycles(1);
    c.real("app", "r2", "memory:2", "unknown");
    c.notices();
    c.advance(milliseconds{300});
    CHECK(c.notices() == Lines{"released app/ph-2: TIMEOUT", "released app/late: TIMEOUT"});
    CHECK(c.app("app").pending == Map{{"memory", 2}});
    c.confirm_timeout("app", "ph-2");
    CHECK(c.notices() == Lines{});
    CHECK(c.state_of("app") == "Running");
    CHECK(c.counters("app") == "g: placeholders 3, replaced 1, timed out 2");
}

TEST_CASE("G-050 a swap in flight survives the time-out in Running") {
    GangStory c;
    c.nodes(1, "memory:5");
    c.gang("app", "memory:4", "timeout=300").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r1", "memory:2").cycles(1);
    c.notices();
    c.advance(milliseconds{300});
    CHECK(c.notices() == Lines{"released app/ph-2: TIMEOUT"});
    c.confirm("app", "ph-1");
    CHECK(c.notices() == Lines{"allocated app/r1 on n-0"});
}

TEST_CASE("G-022 D-04 the timer runs although a real ask made the application Running first") {
    GangStory c;
    c.nodes(1, "memory:5");
    c.gang("app", "memory:40", "timeout=300").ask("app", "driver", "memory:1").cycles(1);
    REQUIRE(c.state_of("app") == "Running");
    c.placeholders("app", 1, "memory:2").cycles(1);
    c.notices();
    c.advance(milliseconds{300});
    CHECK(c.notices() == Lines{"released app/ph-1: TIMEOUT"});
}

TEST_CASE("G-022 G-023 the timer starts with the first placed placeholder and stops when none is left") {
    GangStory c;
    c.gang("app", "memory:6", "timeout=300 style=Hard").placeholders("app", 3, "memory:2");
    c.advance(seconds{5}); // nothing is placed: no timer
    c.nodes(1, "memory:4").cycles(1);
    c.advance(milliseconds{200});
    c.cycles(1); // the second one does not start it again
    c.release("app", "ph-1").release("app", "ph-2");
    c.advance(milliseconds{200});
    CHECK(c.state_of("app") == "Accepted");
    c.cycles(1); // ph-3: a new timer
    c.advance(milliseconds{299});
    CHECK(c.state_of("app") == "Accepted");
    c.advance(milliseconds{1});
    CHECK(c.state_of("app") == "Failing");
}

TEST_CASE("G-003 only the exact word Hard is hard") {
    const std::string style = GENERATE("HARD", "hard", "Soft", "whatever");
    GangStory c = incomplete(style);
    c.advance(milliseconds{200});
    CHECK(c.state_of("app") == "Resuming");
}

TEST_CASE("G-007 the timeout: default, overflow, and the age of the application") {
    GangStory c;
    c.nodes(1, "memory:90");
    const std::string created = "tags=yunikorn.apache.org/creationTime:";
    c.gang("default", "memory:9").gang("negative", "memory:9", "timeout=-5");
    c.gang("huge", "memory:9", "timeout=9223372036854775807");
    c.gang("aged", "memory:9", "timeout=10000 " + created + std::to_string(c.seconds() - 8));
    c.gang("old", "memory:9", "timeout=10000 " + created + "1000");
    c.gang("future", "memory:9", "timeout=10000 " + created + std::to_string(c.seconds() + 100));
    c.gang("bad", "memory:9", "timeout=10000 " + created + "yesterday");
    for (const char* id : {"default", "negative", "huge", "aged", "old", "future", "bad"})
        c.placeholders(id, 1, "memory:1");
    c.cycles(7);
    const auto resuming = [&c] {
        std::string ids;
        for (const char* id : {"default", "negative", "huge", "aged", "old", "future", "bad"})
            if (c.state_of(id) == "Resuming") ids += std::string{id} + " ";
        return ids;
    };
    c.advance(milliseconds{1});
    CHECK(resuming() == "old ");
    c.advance(seconds{2});
    CHECK(resuming() == "aged old ");
    c.advance(seconds{8});
    CHECK(resuming() == "aged old future bad ");
    c.advance(minutes{15});
    CHECK(resuming() == "default negative huge aged old future bad ");
}

TEST_CASE("G-053 a TIMEOUT confirmation that comes twice is ignored") {
    GangStory c = incomplete("Soft");
    c.advance(milliseconds{200});
    c.confirm_timeout("app", "ph-1").confirm_timeout("app", "ph-1");
    CHECK(c.counters("app") == "g: placeholders 3, replaced 0, timed out 2");
    CHECK(c.app("app").placeholder == Map{{"memory", 2}});
}

TEST_CASE("G-055 D-10 a resumed application that holds a new placeholder does not wait for ever") {
    GangStory c = incomplete("Soft");
    c.advance(milliseconds{200});
    c.node("n-9", "memory:2").placeholder("app", "new", "memory:1");
    REQUIRE(c.cycles(1) == 1);
    c.confirm_timeout("app", "ph-1");
    CHECK(c.state_of("app") == "Resuming");
    c.confirm_timeout("app", "ph-2");
    CHECK(c.state_of("app") == "Accepted");
    c.notices();
    c.advance(milliseconds{200}); // and the new one times out, too
    CHECK(c.notices() == Lines{"application app is Resuming", "released app/new: TIMEOUT"});
}

TEST_CASE("G-022 D-04 a placeholder placed while timed-out ones are not confirmed yet times out, too") {
    GangStory c;
    c.nodes(1, "memory:9");
    c.gang("app", "memory:9", "timeout=300")
        .placeholders("app", 1, "memory:2")
        .ask("app", "driver", "memory:1")
        .cycles(2);
    c.advance(milliseconds{300});
    c.placeholder("app", "new", "memory:2").cycles(1);
    c.notices();
    c.advance(milliseconds{300});
    CHECK(c.notices() == Lines{"released app/new: TIMEOUT"});
}

TEST_CASE("S-148 a failing application takes no ask") {
    GangStory c = incomplete("Hard");
    c.advance(milliseconds{200});
    c.notices();
    c.real("app", "r1", "memory:1");
    CHECK(c.notices() == Lines{"rejected ask app/r1: P_APP_TERMINAL"});
}

TEST_CASE("S-600 events of timed-out placeholders") {
    GangStory c = incomplete("Soft");
    c.events();
    c.advance(milliseconds{200});
    CHECK(c.events() == Lines{"APP app SET APP_RESUMING", "APP app REMOVE REQUEST_TIMEOUT ref=ph-3"});
    c.confirm_timeout("app", "ph-1");
    CHECK(c.events().front() == "APP app REMOVE ALLOC_TIMEOUT ref=ph-1");
}

} // namespace yk::testing
