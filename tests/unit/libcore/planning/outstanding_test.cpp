// SPDX-License-Identifier: Apache-2.0
// scheduling.md section 17: asks that a larger cluster would take are reported, once (S-520, S-521).

#include <catch2/catch.hpp>

#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

Settings inspecting() {
    Settings settings = Cluster::manual_settings();
    settings.inspect_outstanding = true;
    return settings;
}

/// The keys reported since the last time, with blanks between.
std::string reported(Cluster& c) {
    std::string keys;
    for (const std::string& line : c.notices())
        if (line.starts_with("outstanding ask ")) keys += (keys.empty() ? "" : " ") + line.substr(line.find('/') + 1);
    return keys;
}

constexpr Duration kSecond = std::chrono::seconds{1};

} // namespace

TEST_CASE("S-520 an ask that fits no node is reported after a second, once, ever") {
    Cluster c{"[{name: a}]", "", "", inspecting()};
    c.nodes(1, "vcore:4").application("app").asks("app", 3, "vcore:3");
    c.advance(kSecond);
    CHECK(reported(c).empty()); // not attempted yet
    c.cycles(3);
    c.advance(kSecond);
    CHECK(reported(c) == "app-1 app-2");
    CHECK(c.app("app").asks[0].triggered_scale_up);
    c.cycles(2);
    c.advance(10 * kSecond);
    CHECK(reported(c).empty());
    c.ask("app", "late", "vcore:3").cycles(1);
    c.advance(kSecond);
    CHECK(reported(c) == "late");
}

TEST_CASE("S-521 what a queue's max does not allow is no reason for more nodes") {
    Cluster c{"[{name: p, parent: true, resources: {max: {vcore: 8m}}, queues: [{name: a}, {name: b}]}]", "", "",
              inspecting()};
    c.nodes(1, "vcore:1").application("x", "root.p.a").application("y", "root.p.b");
    c.asks("x", 1, "vcore:5").asks("y", 2, "vcore:3").cycles(2);
    c.advance(kSecond);
    CHECK(reported(c) == "y-0 y-1"); // the larger pending goes first (S-203); 5 more would be 11 of 8
}

TEST_CASE("S-521 reported asks of the application take their part of the room, those of others do not") {
    Cluster c{"[{name: a, resources: {max: {vcore: 8m}}}]", "", "", inspecting()};
    c.nodes(1, "vcore:1").application("x").ask("x", "first", "vcore:5").cycles(1);
    c.advance(kSecond);
    CHECK(reported(c) == "first");
    c.ask("x", "second", "vcore:5").cycles(1);
    c.application("y").ask("y", "third", "vcore:5").cycles(1);
    c.advance(kSecond);
    CHECK(reported(c) == "third");
}

TEST_CASE("S-521 S-436 an ask with a required node is not reported") {
    Cluster c{"[{name: a}]", "", "", inspecting()};
    c.nodes(1, "vcore:4").application("app");
    c.ask("app", "pinned", "vcore:5", "tags=yunikorn.apache.org/requiredNode:n-0").cycles(1);
    c.advance(2 * kSecond);
    CHECK(reported(c).empty());
}

TEST_CASE("S-521 a user's limit holds back what a larger cluster could not place") {
    Cluster c{"[{name: a, limits: [{limit: one, users: [testuser], maxresources: {vcore: 4m}}]}]", "", "",
              inspecting()};
    c.nodes(1, "vcore:1").application("app").asks("app", 2, "vcore:3").cycles(1);
    c.advance(kSecond);
    CHECK(reported(c) == "app-0");
}

TEST_CASE("S-520 with a manual schedule nothing is inspected") {
    Cluster c;
    c.nodes(1, "vcore:4").application("app").ask("app", "k", "vcore:5").cycles(1);
    c.advance(5 * kSecond);
    CHECK(reported(c).empty());
}

} // namespace yk::testing
