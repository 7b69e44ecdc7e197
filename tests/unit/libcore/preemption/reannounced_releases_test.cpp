// SPDX-License-Identifier: Apache-2.0
// Releases that the RM does not confirm are announced once more (section 5 no. 5 of preemption-gang-priority.md).

#include <catch2/catch.hpp>

#include "tests/support/cluster.h"
#include "tests/unit/libcore/preemption/starved.h"

namespace yk::testing {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

} // namespace

TEST_CASE("P section 5 no. 5: a release that is not confirmed within 5 min is announced once more, and only once") {
    Cluster c = starved("memory: 4");
    c.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    REQUIRE(c.preempted() == "v");
    c.notices();
    (void)c.ask_events();
    c.advance(minutes{5} - seconds{1});
    CHECK(c.notices() == Lines{});
    c.advance(seconds{1});
    CHECK(c.notices() == Lines{"released v/v: PREEMPTED_BY_SCHEDULER"});
    CHECK(c.core().counters().reannounced == 1);
    const Lines events = c.ask_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].find("has not confirmed its release") != std::string::npos);
    c.advance(minutes{30});
    CHECK(c.notices() == Lines{});
    CHECK(c.core().counters().reannounced == 1);
}

TEST_CASE("P section 5 no. 5: what is confirmed, and a key that is used again, is not announced again; 0 is never") {
    Cluster c = starved("memory: 4");
    c.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    c.release("v", "v", 3).cycles(2);
    c.victim("v", "v", "memory:0,vcore:1", "n-0", 1).notices();
    c.advance(minutes{10});
    CHECK(c.core().counters().reannounced == 0);
    Settings never = Cluster::manual_settings();
    never.release_confirm = {};
    Cluster d{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]", {}, {}, never};
    d.application("x", "root.c2").application("v", "root.c1");
    d.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    d.advance(minutes{60});
    CHECK(d.core().counters().reannounced == 0);
}

TEST_CASE("P section 5 no. 5: placeholders that time out or are replaced are announced again, too") {
    Cluster c{"[{name: a}]"};
    c.nodes(1, "memory:9");
    c.play("apps new id=g queue=root.a user=u gang=memory:2 timeout=1000");
    c.ask("g", "p", "memory:2", "placeholder=1 group=g").cycles(1);
    c.ask("g", "r", "memory:2", "group=g").cycles(1);
    c.notices();
    c.advance(minutes{5});
    CHECK(c.notices() == Lines{"released g/p: PLACEHOLDER_REPLACED"});
}

} // namespace yk::testing
