// SPDX-License-Identifier: Apache-2.0
// config.md section 14: limits of users and groups and a new configuration, C-420 to C-427.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/unit/libcore/partition/usage.h"

namespace yk::testing {

// --- changes of the configuration (section 14) ----------------------------------------------------------------------

TEST_CASE("C-420 after a reload the new limits hold for known and for future users; usage stays") {
    Cluster c;
    c.nodes(1, "vcore:100");
    submit(c, "old", "root.a", "bob");
    c.asks("old", 5, "vcore:1");
    c.cycles(2);
    REQUIRE(c.configure("[{name: a, limits: [{users: ['*'], maxresources: {vcore: 3m}}]}]") == "ok");
    CHECK(of_user(c, "bob", "root.a").usage == Map{{"vcore", 2}});
    CHECK(of_user(c, "bob", "root.a").running == Lines{"old"});
    submit(c, "new", "root.a", "ann");
    c.asks("new", 5, "vcore:1");
    c.cycles(9);
    CHECK(c.allocations_of("old") == 3);
    CHECK(c.allocations_of("new") == 3);
}

TEST_CASE("C-421 a named limit and * replace each other") {
    const std::string named = "{users: [bob], maxresources: {vcore: 4m}}";
    const std::string all = "{users: ['*'], maxresources: {vcore: 2m}}", other = "{users: [eve], maxapplications: 9}";
    struct Row {
        std::string before, after;
        int bob, ann; // placed in the end
    };
    const Row rows[] = {
        {named + ", " + all, all, 4, 2}, // 4 are used: no more, none less
        {named, other, 9, 9},
        {all, named + ", " + all, 4, 2},
        {all, other, 9, 9}, // D-34: named ones before and after
        {other + ", " + all, other, 9, 9},
        {other + ", " + all, named, 4, 9},
        {all, "{users: ['*'], maxresources: {vcore: 3m}}", 3, 3},
    };
    for (const Row& row : rows) {
        INFO(row.before << " -> " << row.after);
        Cluster c{fmt::format("[{{name: a, limits: [{}]}}]", row.before)};
        c.nodes(1, "vcore:100");
        for (const char* user : {"bob", "ann"}) {
            submit(c, user, "root.a", user);
            c.asks(user, 9, "vcore:1");
        }
        c.cycles(6); // bob has at most 4, ann at most 2 of * before
        const int used = c.allocations_of("bob");
        REQUIRE(c.configure(fmt::format("[{{name: a, limits: [{}]}}]", row.after)) == "ok");
        CHECK(c.allocations_of("bob") == used);
        c.cycles(20);
        CHECK(c.allocations_of("bob") == row.bob);
        CHECK(c.allocations_of("ann") == row.ann);
    }
}

TEST_CASE("C-423 usage moves with the application on all levels, that of others stays") {
    Cluster c{
        "[{name: p, limits: [{groups: [g], maxresources: {vcore: 50m}}], queues: [{name: a, limits: [{groups: [h], "
        "maxresources: {vcore: 20m}}]}, {name: b}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "x", "root.p.a", "bob", "g,h");
    submit(c, "y", "root.p.b", "bob", "g,h");
    submit(c, "z", "root.p.a", "ann", "k");
    c.existing("x", "1", "vcore:5", "n-0").existing("y", "1", "vcore:3", "n-0").existing("z", "1", "vcore:1", "n-0");
    REQUIRE(group_of(c, "bob", "x") == "h");
    REQUIRE(group_of(c, "bob", "y") == "g");
    REQUIRE(group_of(c, "ann", "z").empty());
    c.events(true);
    REQUIRE(c.configure("[{name: p, limits: [{groups: [g, k], maxresources: {vcore: 50m}}], queues: [{name: a}, {name: "
                        "b}]}]") == "ok");
    CHECK(group_of(c, "bob", "x") == "g");
    CHECK(group_of(c, "ann", "z") == "k"); // it was found unlinked before
    CHECK(groups(c) == Lines{"g", "k"});
    CHECK(of_group(c, "g", "root").usage == Map{{"vcore", 8}});
    CHECK(of_group(c, "g", "root.p.a").usage == Map{{"vcore", 5}});
    CHECK(of_group(c, "g", "root.p.b").usage == Map{{"vcore", 3}});
    CHECK(of_group(c, "g", "root.p").running == Lines{"x", "y"});
    CHECK(of_group(c, "k", "root.p.a").usage == Map{{"vcore", 1}});
    CHECK(of_user(c, "bob", "root").usage == Map{{"vcore", 8}});
    c.release("x", "1").release("y", "1").release("z", "1"); // nothing below zero (check() after each step)
    CHECK(of_group(c, "g", "root").usage.empty());
}

TEST_CASE("C-423 many applications change their groups by queue, then by name, whoever came first") {
    constexpr const char* limits =
        "[{{name: p, limits: [{{groups: [{}], maxresources: {{vcore: 50m}}}}], queues: [{{name: a}}, {{name: b}}]}}]";
    Cluster c{fmt::format(limits, "g, h")};
    c.nodes(1, "vcore:100");
    const auto name = [](int i) { return fmt::format("app-{:02}", i); };
    const auto stays = [](int i) { return i % 5 == 0; }; // its user is in one of the groups only
    for (int i = 39; i >= 0; --i) {
        submit(c, name(i), i % 2 == 0 ? "root.p.a" : "root.p.b", stays(i) ? "ann" : "bob", stays(i) ? "g" : "h,g");
        c.existing(name(i), name(i), "vcore:1", "n-0");
    }
    Lines expected;
    for (const int first : {0, 1}) // those in a, then those in b
        for (int i = first; i < 40; i += 2) {
            if (stays(i)) continue;
            expected.push_back("USERGROUP g REMOVE UG_APP_LINK ref=" + name(i));
            expected.push_back("USERGROUP h SET UG_APP_LINK ref=" + name(i));
        }
    c.events(true);
    REQUIRE(c.configure(fmt::format(limits, "h, g")) == "ok");
    CHECK(c.events(true) == expected);
    CHECK(of_group(c, "h", "root.p.a").usage == Map{{"vcore", 16}});
    CHECK(of_group(c, "g", "root.p.b").usage == Map{{"vcore", 4}});
}

TEST_CASE("C-424 who falls to * by a reload brings its usage along") {
    constexpr const char* parent =
        "[{{name: parent, limits: [{{groups: [{}], maxresources: {{vcore: 20m}}}}, {{groups: ['*'], "
        "maxresources: {{vcore: 10m}}}}], queues: [{{name: leaf}}]}}]";
    Cluster c{fmt::format(parent, "group1, group2")};
    c.nodes(1, "vcore:100");
    submit(c, "a2", "root.parent.leaf", "user2", "group2");
    submit(c, "a3", "root.parent.leaf", "user3", "group3");
    c.ask("a2", "1", "vcore:10").ask("a3", "1", "vcore:10");
    REQUIRE(c.cycles(2) == 2);
    REQUIRE(c.configure(fmt::format(parent, "group1")) == "ok");
    CHECK(of_group(c, "*", "root.parent").usage == Map{{"vcore", 20}});
    submit(c, "b2", "root.parent.leaf", "user2", "group2");
    submit(c, "b3", "root.parent.leaf", "user3", "group3");
    c.ask("b2", "1", "vcore:1").ask("b3", "1", "vcore:1");
    CHECK(c.cycles(3) == 0);
    c.remove("a2");
    CHECK(c.cycles(3) == 0); // 10 of 10
    c.remove("a3");
    CHECK(c.cycles(3) == 2);
}

TEST_CASE("C-425 limits of a queue that the file no longer has are gone while it drains") {
    Cluster c{
        "[{name: a, limits: [{users: [bob], maxresources: {vcore: 1m}}, {groups: [g], maxresources: {vcore: 1m}}]}, "
        "{name: b}]"};
    c.nodes(1, "vcore:100");
    submit(c, "app", "root.a", "bob", "g");
    c.asks("app", 3, "vcore:1");
    CHECK(c.cycles(3) == 1);
    REQUIRE(c.configure("[{name: b}]") == "ok");
    CHECK(c.queue("root.a").state == "Draining");
    CHECK(group_of(c, "bob", "app").empty());
    CHECK(c.cycles(3) == 2);
}

TEST_CASE("C-426 a queue written with capitals is limited all the same") {
    Cluster c{"[{name: Prod, limits: [{users: [bob], maxresources: {vcore: 1m}}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "app", "root.prod", "bob");
    c.asks("app", 3, "vcore:1");
    CHECK(c.cycles(3) == 1);
    CHECK(of_user(c, "bob", "root.prod").max == Map{{"vcore", 1}});
}

TEST_CASE("C-427 a refused configuration changes no limit") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxresources: {vcore: 1m}}]}, {name: b}]"};
    c.nodes(1, "vcore:100");
    submit(c, "app", "root.a", "bob");
    submit(c, "keeps", "root.b", "ann");
    c.asks("app", 3, "vcore:1");
    c.events(true);
    // a leaf with an application cannot become a parent (C-435)
    CHECK(c.configure("[{name: a}, {name: b, parent: true}]") == "refused");
    CHECK(c.events(true).empty());
    CHECK(c.cycles(3) == 1);
}

} // namespace yk::testing
