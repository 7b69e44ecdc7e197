// SPDX-License-Identifier: Apache-2.0
// G-035, same node: a real ask takes the place of its placeholder whatever else holds of the node.

#include <catch2/catch.hpp>

#include "tests/unit/libcore/partition/gangs/story.h"

namespace yk::testing {

namespace {

/// n-0 of 4, full with two placeholders of 2, and reserved for `waits` of another application; room that nobody may use
/// is on `spare`.
GangStory reserved(const std::string& more) {
    GangStory c;
    c.node("n-0", "memory:4");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.node("spare", "memory:9", "createdrain");
    c.application("other").ask("other", "waits", "memory:2", more).cycles(1);
    REQUIRE(c.reserved_on("n-0") == "waits");
    c.notices();
    return c;
}

} // namespace

TEST_CASE("G-035 on its own node a placeholder is replaced although the node is full and kept for another ask") {
    const std::string more = GENERATE("tags=creationTime:100", "tags=yunikorn.apache.org/requiredNode:n-0 prio=-1");
    GangStory c = reserved(more);
    c.real("app", "r1", "memory:2");
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() == Lines{"released app/ph-1: PLACEHOLDER_REPLACED"});
    CHECK(c.node_view("n-0").allocated == Map{{"memory", 4}}); // the real one is not on it yet
    c.confirm("app", "ph-1");
    CHECK(c.node_of("app", "r1") == "n-0");
    CHECK(c.node_view("n-0").allocated == Map{{"memory", 4}});
    CHECK(c.reserved_on("n-0") == "waits"); // the other one goes on waiting
    CHECK(c.allocations_of("other") == 0);
}

TEST_CASE("G-035 G-039 what a smaller real ask leaves on a reserved node is the other ask's") {
    GangStory c = reserved("tags=creationTime:100");
    c.real("app", "r1", "memory:1").real("app", "r2", "memory:1").cycles(2);
    CHECK(c.notices() == Lines{"released app/ph-1: PLACEHOLDER_REPLACED", "released app/ph-2: PLACEHOLDER_REPLACED"});
    c.confirm("app", "ph-1").cycles(2);
    CHECK(c.allocations_of("other") == 0); // 1 is free
    c.confirm("app", "ph-2").cycles(1);
    CHECK(c.node_of("other", "waits") == "n-0");
    CHECK(c.reserved_on("n-0") == "");
}

TEST_CASE("G-035 a real ask whose own node is reserved does not move to a free one") {
    GangStory c = reserved("tags=creationTime:100");
    c.node("n-9", "memory:1"); // there is nothing for `waits` on it
    c.real("app", "r1", "memory:1");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_view("n-9").allocated.empty());
    c.confirm("app", "ph-1");
    CHECK(c.node_of("app", "r1") == "n-0");
}

} // namespace yk::testing
