// SPDX-License-Identifier: Apache-2.0
// config.md section 13: how many applications may run, life and events of what is tracked, C-410 to C-417.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/reports/pages.h"
#include "tests/unit/libcore/partition/usage.h"

namespace yk::testing {

// --- running applications (C-410 to C-413) --------------------------------------------------------------------------

TEST_CASE("C-410 C-416 C-502 may a second application run") {
    struct Row {
        const char* limits;
        bool may;
    };
    const Row rows[] = {
        {"{users: [user1], maxapplications: 1}", false},
        {"{groups: [group1], maxapplications: 1}", false},
        {"{users: ['*'], maxapplications: 1}", false},
        {"{groups: [other], maxapplications: 100}, {groups: ['*'], maxapplications: 1}", false},
        {"{users: [user1], maxapplications: 1}, {groups: [group1], maxapplications: 100}", false},
        {"{users: [user1], maxapplications: 100}, {groups: [group1], maxapplications: 1}", false},
        {"{groups: [other], maxapplications: 1}", true},
        {"{users: [user1], maxapplications: 2}, {users: ['*'], maxapplications: 1}", true},
        {"{users: [user1], maxresources: {vcore: 9m}}", true}, // no limit of this kind (C-412)
    };
    for (const Row& row : rows) {
        INFO(row.limits);
        Cluster c{fmt::format("[{{name: default, limits: [{}]}}]", row.limits)};
        c.nodes(1, "vcore:100");
        for (const char* id : {"testapp1", "testapp2"}) {
            submit(c, id, "root.default", "user1", "group1");
            c.asks(id, 2, "vcore:1");
        }
        c.cycles(5);
        CHECK(c.allocations_of("testapp1") == 2);
        CHECK(c.allocations_of("testapp2") == (row.may ? 2 : 0));
        CHECK(c.state_of("testapp2") == (row.may ? "Running" : "Accepted"));
    }
}

TEST_CASE("C-410 the count of an ancestor holds over its leaves, and frees with the first that ends") {
    Cluster c{"[{name: p, limits: [{users: [bob], maxapplications: 1}], queues: [{name: a}, {name: b}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "x", "root.p.a", "bob");
    submit(c, "y", "root.p.b", "bob");
    submit(c, "z", "root.p.b", "ann");
    c.ask("x", "1", "vcore:1");
    CHECK(c.cycles(1) == 1);
    c.ask("y", "1", "vcore:1").ask("z", "1", "vcore:1");
    CHECK(c.cycles(4) == 1);
    CHECK(c.allocations_of("y") == 0);
    c.release("x", "1");
    CHECK(c.state_of("x") == "Completing"); // no allocation: it does not count
    CHECK(c.cycles(1) == 1);
    CHECK(c.allocations_of("y") == 1);
    c.ask("x", "2", "vcore:1"); // back to Running: not held
    CHECK(c.cycles(1) == 1);
    CHECK(of_user(c, "bob", "root.p").running == Lines{"x", "y"});
}

TEST_CASE("C-410 only applications in Accepted are held: what runs goes on over a lowered limit") {
    constexpr const char* limited = "[{{name: a, limits: [{{users: [bob], maxapplications: {}}}]}}]";
    Cluster c{fmt::format(limited, 3)};
    c.nodes(1, "vcore:100");
    for (const char* id : {"x", "y", "z"}) submit(c, id, "root.a", "bob");
    c.ask("x", "1", "vcore:1").ask("y", "1", "vcore:1");
    c.cycles(2);
    REQUIRE(c.configure(fmt::format(limited, 1)) == "ok");
    c.ask("x", "2", "vcore:1").ask("y", "2", "vcore:1").ask("z", "1", "vcore:1");
    CHECK(c.cycles(4) == 2);
    CHECK(c.allocations_of("z") == 0);
    c.remove("x");
    CHECK(c.cycles(1) == 0); // 1 of 1 is in use
    c.remove("y");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("C-410 an application with a placeholder is in the running set already") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxapplications: 1}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "x", "root.a", "bob");
    submit(c, "y", "root.a", "bob");
    c.ask("x", "1", "vcore:1");
    CHECK(c.cycles(1) == 1);
    c.ask("y", "1", "vcore:1");
    CHECK(c.cycles(2) == 0);
    // what the RM placed asks no quota (C-413)
    c.play("alloc place app=y key=p res=vcore:1 node=n-0 placeholder=1 group=tg");
    CHECK(c.state_of("y") == "Accepted");
    CHECK(of_user(c, "bob", "root.a").running == Lines{"x", "y"});
    CHECK(c.cycles(2) == 1);
    CHECK(c.state_of("y") == "Running");
}

TEST_CASE("C-411 both answers have events of their own, once per change") {
    constexpr const char* limited =
        "[{{name: a, maxapplications: {}, limits: [{{users: [bob], maxapplications: {}}}]}}]";
    Cluster c{fmt::format(limited, 1, 1)};
    c.nodes(1, "vcore:100");
    submit(c, "x", "root.a", "bob");
    submit(c, "y", "root.a", "bob");
    c.ask("x", "1", "vcore:1").ask("y", "1", "vcore:1");
    c.cycles(1);
    c.events();
    c.cycles(3);
    CHECK(c.events() == Lines{"APP y NONE APP_CANNOTRUN_QUEUE", "APP y NONE APP_CANNOTRUN_QUOTA"});
    REQUIRE(c.configure(fmt::format(limited, 2, 1)) == "ok");
    c.cycles(2);
    CHECK(c.events() == Lines{"APP y NONE APP_RUNNABLE_QUEUE"});
    REQUIRE(c.configure(fmt::format(limited, 2, 2)) == "ok");
    c.cycles(1);
    CHECK(c.events().front() == "APP y NONE APP_RUNNABLE_QUOTA");
    CHECK(c.allocations_of("y") == 1);
}

TEST_CASE("C-413 what already runs is taken over above every limit") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxresources: {vcore: 3m}, maxapplications: 1}]}]"};
    c.nodes(1, "vcore:100");
    for (const char* id : {"x", "y"}) {
        submit(c, id, "root.a", "bob");
        c.existing(id, "1", "vcore:4", "n-0");
        CHECK(c.state_of(id) == "Running");
    }
    CHECK(of_user(c, "bob", "root.a").usage == Map{{"vcore", 8}});
    CHECK(of_user(c, "bob", "root.a").running == Lines{"x", "y"});
    c.ask("x", "2", "vcore:1");
    CHECK(c.cycles(2) == 0);
}

// --- life of trackers (C-414, C-415) --------------------------------------------------------------------------------

TEST_CASE("C-414 a tracker is there while it has applications, usage or a named limit") {
    Cluster c{"[{name: a, limits: [{users: [ann], maxapplications: 9}, {users: ['*'], maxapplications: 5}, "
              "{groups: [g], maxapplications: 9}]}]"};
    c.nodes(1, "vcore:100");
    CHECK(users(c) == Lines{"ann"});
    CHECK(groups(c) == Lines{"g"});
    submit(c, "app", "root.a", "bob", "g");
    c.ask("app", "1", "vcore:1");
    c.cycles(1);
    CHECK(users(c) == Lines{"ann", "bob"});
    c.release("app", "1");
    c.advance(std::chrono::seconds{31}); // Completed: it leaves its queue
    REQUIRE(c.state_of("app") == "Completed");
    CHECK(users(c) == Lines{"ann"});
    CHECK(groups(c) == Lines{"g"});
    REQUIRE(c.configure("[{name: a, limits: [{users: ['*'], maxapplications: 5}]}]") == "ok");
    CHECK(users(c).empty());
    CHECK(groups(c).empty());
}

TEST_CASE("C-414 removal of an application takes its usage, its links and its trackers along") {
    Cluster c{"[{name: a, limits: [{groups: [g], maxresources: {vcore: 5m}}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "app", "root.a", "bob", "g");
    c.ask("app", "1", "vcore:5").ask("app", "2", "vcore:5");
    c.cycles(2);
    c.remove("app");
    CHECK(users(c).empty());
    CHECK(of_group(c, "g", "root.a").usage.empty());
    CHECK(of_group(c, "g", "root.a").running.empty());
    submit(c, "next", "root.a", "ann", "g");
    c.ask("next", "1", "vcore:5");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("C-415 I-600 the events of a tracked life") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxapplications: 1}, {groups: [g], maxapplications: 1}]}]"};
    CHECK(c.events(true) == Lines{"QUEUE root ADD NONE", "QUEUE root.a ADD NONE",
                                  "USERGROUP bob SET UG_USER_LIMIT ref=root.a",
                                  "USERGROUP g SET UG_GROUP_LIMIT ref=root.a"});
    c.nodes(1, "vcore:10");
    submit(c, "app", "root.a", "bob", "g");
    c.events(true);
    c.ask("app", "1", "vcore:1");
    CHECK(c.events(true) ==
          Lines{"USERGROUP g SET UG_APP_LINK ref=app", "APP app SET APP_ACCEPTED", "APP app ADD APP_REQUEST ref=1"});
    c.cycles(1);
    CHECK(c.events(true) == Lines{"NODE n-0 ADD NODE_ALLOC ref=1", "APP app SET APP_RUNNING",
                                  "USERGROUP bob ADD UG_USER_RESOURCE ref=root.a",
                                  "USERGROUP g ADD UG_GROUP_RESOURCE ref=root.a", "APP app ADD APP_ALLOC ref=1"});
    c.ask("app", "1", "vcore:2");
    CHECK(c.events(true).empty()); // a resize in place has no event of usage (S-456)
    c.remove("app");
    CHECK(c.events(true) == Lines{"USERGROUP bob REMOVE UG_USER_RESOURCE ref=root.a",
                                  "USERGROUP g REMOVE UG_GROUP_RESOURCE ref=root.a",
                                  "APP app REMOVE ALLOC_CANCEL ref=1", "NODE n-0 REMOVE NODE_ALLOC ref=1",
                                  "APP app REMOVE REQUEST_CANCEL ref=1", "USERGROUP g REMOVE UG_APP_LINK ref=app",
                                  "QUEUE root.a REMOVE QUEUE_APP ref=app", "APP app REMOVE NONE"});
}

TEST_CASE("C-415 the events of changed limits, lost queues first, each in name order") {
    Cluster c{"[{name: a, limits: [{users: [eve, bob], maxapplications: 1}]}, {name: b, limits: [{groups: [g], "
              "maxapplications: 1}]}]"};
    c.events(true);
    REQUIRE(c.configure("[{name: a, limits: [{users: [bob], maxapplications: 2}, {groups: [h], maxapplications: 1}, "
                        "{users: [ann, '*'], maxapplications: 1}]}, {name: b}]") == "ok");
    CHECK(c.events(true) ==
          Lines{"USERGROUP g REMOVE UG_GROUP_LIMIT ref=root.b", "USERGROUP eve REMOVE UG_USER_LIMIT ref=root.a",
                "USERGROUP * SET UG_USER_LIMIT ref=root.a", "USERGROUP ann SET UG_USER_LIMIT ref=root.a",
                "USERGROUP bob SET UG_USER_LIMIT ref=root.a", "USERGROUP h SET UG_GROUP_LIMIT ref=root.a"});
}

TEST_CASE("C-417 two applications of one user under two groups") {
    Cluster c{
        "[{name: parent, limits: [{groups: [group1], maxresources: {vcore: 10m}}], queues: [{name: child1, limits: "
        "[{groups: [group2], maxresources: {vcore: 10m}}]}, {name: child2}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "1", "root.parent.child1", "bob", "group1,group2");
    submit(c, "2", "root.parent.child2", "bob", "group1,group2");
    c.asks("1", 11, "vcore:1").asks("2", 11, "vcore:1");
    CHECK(c.cycles(30) == 20);
    CHECK(c.allocations_of("1") == 10);
    CHECK(c.allocations_of("2") == 10);
    CHECK(group_of(c, "bob", "1") == "group2");
    CHECK(group_of(c, "bob", "2") == "group1");
    CHECK(of_group(c, "group1", "root.parent").usage == Map{{"vcore", 10}});
    CHECK(of_group(c, "group2", "root.parent").usage == Map{{"vcore", 10}});
    c.remove("1").remove("2");
    CHECK(users(c).empty());
    for (const UsageView& group : usage_views(*c.core().read("default"), true)) CHECK(group.applications.empty());
}

} // namespace yk::testing
