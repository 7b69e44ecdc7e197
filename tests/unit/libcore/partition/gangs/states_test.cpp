// SPDX-License-Identifier: Apache-2.0
// What a gang is and how its placeholders move the state: G-001, G-012, S-111, S-145, S-264.

#include <catch2/catch.hpp>

#include "tests/unit/libcore/partition/gangs/story.h"

namespace yk::testing {

namespace {

/// n-0 has room for the first of two placeholders of the gang `app-1`, and for `app-2`, which waits.
GangStory half_placed(int limit) {
    const std::string most = fmt::format("maxapplications: {}", limit);
    GangStory c{"[{name: p, parent: true, " + most + ", queues: [{name: l, " + most + "}]}]"};
    c.nodes(1, "memory:3");
    c.gang("app-1", "memory:4", "", "root.p.l").placeholders("app-1", 2, "memory:2").cycles(1);
    c.advance(std::chrono::seconds{1}).application("app-2", "root.p.l").ask("app-2", "k", "memory:1");
    return c;
}

} // namespace

TEST_CASE("G-001 groups are learnt from the placeholders, not from the application") {
    GangStory c;
    c.gang("app", "memory:6", "style=Hard");
    CHECK(c.counters("app") == "");
    c.real("app", "r1", "memory:2");
    CHECK(c.counters("app") == "");
    c.placeholders("app", 2, "memory:2").placeholder("app", "other", "memory:2", "h");
    CHECK(c.counters("app") ==
          "g: placeholders 2, replaced 0, timed out 0; h: placeholders 1, replaced 0, timed out 0");
}

TEST_CASE(
    "S-111 a task group without the placeholder flag is an ordinary ask, the flag without a group makes nothing") {
    GangStory c;
    c.nodes(1, "memory:4").application("app").ask("app", "bad", "memory:1", "placeholder=1");
    CHECK(c.app("app").pending_asks == 0);
    c.real("app", "r1", "memory:1");
    CHECK(c.cycles(1) == 1);
    CHECK(c.placed("app") == "r1");
    CHECK(c.partition().placeholders == 0);
}

TEST_CASE("G-012 a real allocation makes a Completing application Running, and a Running one stays so in silence") {
    GangStory c;
    c.nodes(1, "memory:4").application("app").ask("app", "k", "memory:1").release("app", "k");
    CHECK(c.state_of("app") == "Completing");
    c.existing("app", "reported", "memory:1", "n-0").notices();
    CHECK(c.state_of("app") == "Running");
    c.ask("app", "more", "memory:1").cycles(1);
    CHECK(c.notices() == Lines{"allocated app/more on n-0"});
}

TEST_CASE("S-145 G-013 the first replacement of a placeholder makes the application Running") {
    GangStory c;
    c.nodes(1, "memory:2");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(1);
    CHECK(c.state_of("app") == "Accepted"); // one of two
    c.real("app", "r1", "memory:2").cycles(1);
    CHECK(c.state_of("app") == "Accepted");
    c.confirm("app", "ph-1");
    CHECK(c.placed("app") == "r1");
    CHECK(c.state_of("app") == "Running");
}

TEST_CASE("S-264 a gang that is placed in part holds its slot, before and after it runs") {
    GangStory one = half_placed(1);
    CHECK(one.cycles(2) == 0);
    CHECK(one.state_of("app-1") == "Accepted");
    one.node("n-9", "memory:2");
    CHECK(one.cycles(3) == 1);
    CHECK(one.state_of("app-1") == "Running");
    CHECK(one.state_of("app-2") == "Accepted");

    GangStory two = half_placed(2);
    CHECK(two.cycles(1) == 1);
    CHECK(two.placed("app-2") == "k");
}

} // namespace yk::testing
