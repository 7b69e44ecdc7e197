// SPDX-License-Identifier: Apache-2.0
// Gangs beside each other, and placeholders that are not what was announced (section 5 no. 11 and 12 of
// preemption-gang-priority.md).

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/reports/explain.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::seconds;

} // namespace

TEST_CASE("P section 5 no. 11: placeholders that do not add up to what was announced are told of, once") {
    const auto notices = [](Cluster& c) {
        int count = 0;
        for (const std::string& event : c.events())
            count += event.find("APP g") == 0 && event.find("NONE") != std::string::npos ? 1 : 0;
        return count;
    };
    Cluster more{"[{name: a}]"};
    more.nodes(1, "memory:9").play("apps new id=g queue=root.a user=u gang=memory:3 timeout=1000");
    (void)more.events();
    more.ask("g", "p0", "memory:2", "placeholder=1 group=g").cycles(1);
    CHECK(notices(more) == 0);
    more.ask("g", "p1", "memory:2", "placeholder=1 group=g")
        .ask("g", "p2", "memory:2", "placeholder=1 group=g")
        .cycles(3);
    CHECK(notices(more) == 1);
    Cluster fewer{"[{name: a}]"};
    fewer.nodes(1, "memory:9").play("apps new id=g queue=root.a user=u gang=memory:3 timeout=1000");
    fewer.ask("g", "p0", "memory:2", "placeholder=1 group=g").cycles(1);
    (void)fewer.events();
    fewer.advance(seconds{2}); // its time is over
    CHECK(notices(fewer) == 1);
    Cluster right{"[{name: a}]"};
    right.nodes(1, "memory:9").play("apps new id=g queue=root.a user=u gang=memory:4 timeout=1000");
    right.ask("g", "p0", "memory:2", "placeholder=1 group=g")
        .ask("g", "p1", "memory:2", "placeholder=1 group=g")
        .cycles(3);
    (void)right.events();
    right.advance(seconds{2});
    CHECK(notices(right) == 0);
}

TEST_CASE("P section 5 no. 12: with application.gang.order a second gang waits while the first is half placed") {
    for (const bool on : {false, true}) {
        CAPTURE(on);
        Cluster c{
            fmt::format("[{{name: a, properties: {{application.gang.order: {}}}}}]", on ? "enabled" : "disabled")};
        c.nodes(1, "memory:6");
        for (const char* app : {"g", "h"}) c.play(fmt::format("apps new id={} queue=root.a user=u gang=memory:4", app));
        c.ask("g", "g0", "memory:2", "placeholder=1 group=g").cycles(1);
        c.ask("h", "h0", "memory:2", "placeholder=1 group=h")
            .ask("h", "h1", "memory:2", "placeholder=1 group=h")
            .cycles(5);
        CHECK(c.allocations_of("h") == (on ? 0 : 2));
        if (on) {
            const Explanation why = explain_ask(*c.core().read("default"), "h", "h0", c.now());
            CHECK(why.verdict == "HELD");
            REQUIRE_FALSE(why.reasons.empty());
            CHECK(why.reasons[0].code == "GANG");
            CHECK(why.reasons[0].object == "h");
        }
        c.ask("g", "g1", "memory:2", "placeholder=1 group=g").cycles(5);
        CHECK(c.allocations_of("g") == (on ? 2 : 1));
        if (!on) continue;
        CHECK(c.state_of("g") == "Running"); // complete: it holds nobody back any more
        CHECK(c.allocations_of("h") == 1);
        c.release("g", "g0").release("g", "g1").cycles(3);
        CHECK(c.allocations_of("h") == 2);
    }
}

TEST_CASE("P section 5 no. 12: a gang that fits beside the first is not held back") {
    Cluster c{"[{name: a, properties: {application.gang.order: enabled}}]"};
    c.nodes(1, "memory:9");
    for (const char* app : {"g", "h"}) c.play(fmt::format("apps new id={} queue=root.a user=u gang=memory:4", app));
    c.ask("g", "g0", "memory:2", "placeholder=1 group=g").cycles(1);
    c.ask("h", "h0", "memory:2", "placeholder=1 group=h").cycles(2);
    CHECK(c.allocations_of("h") == 1);
}

} // namespace yk::testing
