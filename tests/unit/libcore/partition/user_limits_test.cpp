// SPDX-License-Identifier: Apache-2.0
// config.md section 13: what is tracked of users and groups and what they may, C-400 to C-409. Longer runs are in
// tests/scenarios/limits and tests/differential.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/reports/pages.h"
#include "tests/unit/libcore/partition/usage.h"

namespace yk::testing {

// --- tracking (C-400 to C-407) --------------------------------------------------------------------------------------

TEST_CASE("C-400 usage and running applications are counted at every level of the path") {
    Cluster c{"[{name: p, parent: true, queues: [{name: a}, {name: b}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "x", "root.p.a", "bob");
    submit(c, "y", "root.p.b", "bob");
    submit(c, "z", "root.p.b", "Bob");
    c.existing("x", "1", "vcore:2", "n-0").existing("y", "1", "vcore:3", "n-0").existing("z", "1", "vcore:7", "n-0");
    CHECK(of_user(c, "bob", "root.p.a").usage == Map{{"vcore", 2}});
    CHECK(of_user(c, "bob", "root.p.b").usage == Map{{"vcore", 3}});
    CHECK(of_user(c, "bob", "root.p").usage == Map{{"vcore", 5}});
    CHECK(of_user(c, "bob", "root").usage == Map{{"vcore", 5}});
    CHECK(of_user(c, "bob", "root").running == Lines{"x", "y"});
    CHECK(of_user(c, "bob", "root.p.a").running == Lines{"x"});
    CHECK(of_user(c, "Bob", "root").usage == Map{{"vcore", 7}}); // names know their case
}

TEST_CASE("C-401 each partition tracks for itself") {
    Cluster c;
    REQUIRE(
        c.play("config partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a, limits: "
               "[{users: [bob], maxresources: {vcore: 1m}}]}]}]}, {name: other, queues: [{name: root, submitacl: "
               "'*', queues: [{name: a, limits: [{users: [bob], maxresources: {vcore: 3m}}]}]}]}]") == "ok");
    c.nodes(1, "vcore:10").play("nodes create id=m part=other res=vcore:10");
    submit(c, "x", "root.a", "bob");
    c.play("apps new part=other id=y queue=root.a user=bob groups=");
    c.asks("x", 5, "vcore:1");
    for (const char* key : {"1", "2", "3", "4"})
        c.play(fmt::format("alloc ask part=other app=y key={} res=vcore:1", key));
    for (int i = 0; i < 6; ++i) c.play("cycle 1");
    CHECK(of_user(c, "bob", "root.a").usage == Map{{"vcore", 1}});
    const auto other = usage_views(*c.core().read("other"), false);
    REQUIRE(names(other) == Lines{"bob"});
    CHECK(at(other[0].root, "root.a").usage == Map{{"vcore", 3}});
}

TEST_CASE("C-402 the entry of a name wins over *, and * gives each user a budget of its own") {
    Cluster c{
        "[{name: a, limits: [{users: [bob], maxresources: {vcore: 3m}}, {users: ['*'], maxresources: {vcore: 2m}}]}]"};
    c.nodes(1, "vcore:100");
    for (const char* user : {"bob", "ann", "eve"}) {
        submit(c, user, "root.a", user);
        c.asks(user, 5, "vcore:1");
    }
    c.cycles(12);
    CHECK(c.allocations_of("bob") == 3);
    CHECK(c.allocations_of("ann") == 2);
    CHECK(c.allocations_of("eve") == 2);
    CHECK(of_user(c, "bob", "root.a").max == Map{{"vcore", 3}});
    CHECK(of_user(c, "ann", "root.a").max == Map{{"vcore", 2}});
}

TEST_CASE("C-402 a named limit without a type leaves it free even if * limits it") {
    Cluster c{
        "[{name: a, limits: [{users: [bob], maxresources: {memory: 10}}, {users: ['*'], maxresources: {vcore: 2m}}]}]"};
    c.nodes(1, "vcore:100,memory:100");
    submit(c, "app", "root.a", "bob");
    c.asks("app", 5, "vcore:1,memory:1");
    CHECK(c.cycles(6) == 5);
}

TEST_CASE("C-403 the group is the first configured one of the nearest queue that has one") {
    struct Row {
        const char* groups;
        const char* expected;
    };
    const Row rows[] = {
        {"g1,g2", "g2"},           // file order decides, not the user's
        {"g1", "g1"},              // the second of the entry
        {"top", "*"},              // the leaf has a * limit: the search ends there
        {"other", "*"},  {"", ""}, // a user without groups never matches
    };
    Cluster c{"[{name: a, limits: [{groups: [g2, g1], maxapplications: 50}, {groups: ['*'], maxapplications: 50}]}]",
              "limits: [{groups: [top], maxapplications: 100}]"};
    c.nodes(1, "vcore:100");
    int serial = 0;
    for (const Row& row : rows) {
        INFO(row.groups);
        const std::string app = fmt::format("app{}", serial++);
        submit(c, app, "root.a", "bob", row.groups);
        CHECK(group_of(c, "bob", app).empty()); // New: nothing was asked yet
        c.ask(app, "k", "vcore:1");
        CHECK(group_of(c, "bob", app) == row.expected);
    }
}

TEST_CASE("C-404 the group depends on the queue") {
    Cluster c{"[{name: parent, limits: [{groups: [test_parent], maxresources: {vcore: 50m}}], queues: [{name: leaf}]}, "
              "{name: parent1, queues: [{name: leaf1}]}]",
              "limits: [{groups: [test_root], maxresources: {vcore: 50m}}]"};
    c.nodes(1, "vcore:100");
    for (const char* order : {"test,test_root,test_parent", "test_parent,test_root,test"}) {
        submit(c, "x", "root.parent.leaf", "bob", order);
        submit(c, "y", "root.parent1.leaf1", "bob", order);
        c.ask("x", "k", "vcore:1").ask("y", "k", "vcore:1");
        CHECK(group_of(c, "bob", "x") == "test_parent");
        CHECK(group_of(c, "bob", "y") == "test_root");
        c.remove("x").remove("y");
    }
}

TEST_CASE("C-405 the chosen group counts and is held at all levels, other groups of the user are not") {
    Cluster c{"[{name: p, limits: [{groups: [g], maxresources: {vcore: 4m}}], queues: [{name: a}, {name: b}]}]",
              "limits: [{groups: [g], maxresources: {vcore: 5m}}, {groups: [h], maxresources: {vcore: 1m}}]"};
    c.nodes(1, "vcore:100");
    submit(c, "x", "root.p.a", "bob", "h,g");
    submit(c, "y", "root.p.b", "ann", "g");
    c.asks("x", 3, "vcore:1").asks("y", 3, "vcore:1");
    CHECK(c.cycles(7) == 4); // of both members together; not held by h
    CHECK(of_group(c, "g", "root").usage == Map{{"vcore", 4}});
    CHECK(of_group(c, "g", "root.p").running == Lines{"x", "y"});
    CHECK(of_group(c, "h", "root").usage.empty());
}

TEST_CASE("C-405 one tracker of * for everybody who fell through to it") {
    Cluster c{"[{name: a, limits: [{groups: [g, '*'], maxresources: {vcore: 3m}}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "x", "root.a", "bob", "one");
    submit(c, "y", "root.a", "ann", "two");
    c.asks("x", 2, "vcore:1").asks("y", 2, "vcore:1");
    CHECK(c.cycles(5) == 3);
    CHECK(of_group(c, "*", "root.a").usage == Map{{"vcore", 3}});
    CHECK(of_group(c, "g", "root.a").usage.empty());
}

TEST_CASE("C-406 usage follows placements, resizes and releases; running until the last allocation is gone") {
    Cluster c{"[{name: a, limits: [{groups: [g], maxresources: {vcore: 50m}}]}]"};
    c.nodes(1, "vcore:100,memory:100");
    submit(c, "app", "root.a", "bob", "g");
    c.ask("app", "1", "vcore:2,memory:5");
    CHECK(of_user(c, "bob", "root.a").running.empty());
    c.cycles(1);
    c.existing("app", "2", "vcore:3", "n-0");
    const auto both = [&c](const Map& usage, const Lines& running) {
        for (const UsageQueueView& seen : {of_user(c, "bob", "root"), of_group(c, "g", "root.a")}) {
            CHECK(seen.usage == usage);
            CHECK(seen.running == running);
        }
    };
    both({{"vcore", 5}, {"memory", 5}}, {"app"});
    c.ask("app", "1", "vcore:4"); // S-456: a resize to fewer types gives the missing ones back
    both({{"vcore", 7}}, {"app"});
    c.release("app", "2");
    both({{"vcore", 4}}, {"app"});
    c.release("app", "1");
    both({}, {});
    CHECK(c.state_of("app") == "Completing");
}

TEST_CASE("C-406 a running application that waits for another place keeps its slot, also when its node is lost") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxapplications: 1}]}]"};
    c.nodes(1, "vcore:10");
    submit(c, "x", "root.a", "bob");
    submit(c, "y", "root.a", "bob");
    c.ask("x", "1", "vcore:9").ask("x", "2", "vcore:9").ask("y", "1", "vcore:1", "prio=5");
    c.existing("x", "0", "vcore:1", "n-0");
    CHECK(of_user(c, "bob", "root.a").running == Lines{"x"});
    SECTION("its node is lost") {
        c.play("nodes decommission id=n-0 | create id=n-1 res=vcore:10");
    }
    SECTION("its last allocation is released") {
        c.release("x", "0");
    }
    CHECK(of_user(c, "bob", "root.a").usage.empty());
    CHECK(of_user(c, "bob", "root.a").running == Lines{"x"});
    CHECK(c.state_of("x") == "Running");
    CHECK(c.cycles(3) == 1);
    CHECK(c.placed("x") == "1");
    CHECK(c.state_of("y") == "Accepted");
    c.release("x", "2").release("x", "1");
    CHECK(of_user(c, "bob", "root.a").running.empty());
    CHECK(c.cycles(1) == 1);
    CHECK(c.state_of("y") == "Running");
}

TEST_CASE("C-406 a slot that was kept for an ask is given back when the application ends, not with the ask") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxapplications: 1}]}]"};
    c.nodes(1, "vcore:10");
    submit(c, "x", "root.a", "bob");
    c.existing("x", "0", "vcore:1", "n-0").ask("x", "1", "vcore:20");
    c.release("x", "0").release("x", "1");
    CHECK(c.state_of("x") == "Completing");
    CHECK(of_user(c, "bob", "root.a").running == Lines{"x"});
    c.advance(std::chrono::seconds{30});
    CHECK(c.state_of("x") == "Completed");
    CHECK(usage_views(*c.core().read("default"), false).size() == 1); // named by a limit
    CHECK(of_user(c, "bob", "root.a").running.empty());
}

// --- headroom (C-408, C-409) ----------------------------------------------------------------------------------------

TEST_CASE("C-408 the tightest of all levels, of user and of group, decides") {
    struct Row {
        const char* leaf;
        const char* root;
        int placed;
    };
    const Row rows[] = {
        {"{users: [bob], maxresources: {vcore: 2m}}", "{users: [bob], maxresources: {vcore: 4m}}", 2},
        {"{users: ['*'], maxresources: {memory: 3}}", "{users: [bob], maxresources: {vcore: 4m}}", 3},
        {"{users: [ann], maxresources: {vcore: 1m}}", "{users: [bob], maxresources: {vcore: 4m}}", 4},
        {"{groups: [g], maxresources: {vcore: 2m}}", "{users: [bob], maxresources: {vcore: 1m}}", 1},
        {"{groups: [g], maxresources: {vcore: 2m}}", "{groups: [g], maxresources: {vcore: 3m}}", 2},
        {"{groups: [h], maxresources: {vcore: 2m}}", "{groups: [g], maxresources: {vcore: 3m}}", 3},
        {"{users: [bob], maxapplications: 1}", "{groups: [g], maxapplications: 1}", 5}, // no limit of resources (C-412)
    };
    for (const Row& row : rows) {
        INFO(row.leaf << " " << row.root);
        Cluster c{fmt::format("[{{name: a, limits: [{}]}}]", row.leaf), fmt::format("limits: [{}]", row.root)};
        c.nodes(1, "vcore:100,memory:100");
        submit(c, "app", "root.a", "bob", "g");
        c.asks("app", 5, "vcore:1,memory:1");
        CHECK(c.cycles(6) == row.placed);
    }
}

TEST_CASE("C-408 C-422 a headroom below 0 counts as 0, and nothing is taken away") {
    constexpr const char* limited = "[{{name: a, limits: [{{users: [bob], maxresources: {{vcore: {}m}}}}]}}]";
    Cluster c{fmt::format(limited, 8)};
    c.nodes(1, "vcore:100,memory:100");
    submit(c, "app", "root.a", "bob");
    c.ask("app", "1", "vcore:6");
    c.cycles(1);
    REQUIRE(c.configure(fmt::format(limited, 4)) == "ok");
    CHECK(c.allocations_of("app") == 1);
    c.ask("app", "more", "vcore:1").ask("app", "none", "vcore:0,memory:1").ask("app", "other", "memory:1");
    c.cycles(4);
    CHECK(c.placed("app") == "1 none other");
    c.release("app", "1"); // 6 of 4 used, now 0
    c.cycles(1);
    CHECK(c.placed("app") == "more none other");
}

TEST_CASE("C-097 a type limited to 0 beside another is forbidden") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxresources: {vcore: 5m, gpu: 0}}]}]"};
    c.nodes(1, "vcore:100,gpu:5");
    submit(c, "app", "root.a", "bob");
    c.ask("app", "gpu", "vcore:1,gpu:1").ask("app", "plain", "vcore:1");
    c.cycles(3);
    CHECK(c.placed("app") == "plain");
}

TEST_CASE("C-409 S-605 the user's headroom is looked at before the queue's and says so once") {
    Cluster c{"[{name: a, resources: {max: {vcore: 2m}}, limits: [{users: [bob], maxresources: {vcore: 2m}}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "app", "root.a", "bob");
    c.existing("app", "1", "vcore:2", "n-0").ask("app", "k", "vcore:1");
    c.cycles(3);
    const auto view = c.app("app");
    REQUIRE(view.asks.size() == 1);
    REQUIRE(view.asks[0].log.size() == 1);
    CHECK(view.asks[0].log[0].message == "Not enough user quota");
    CHECK_FALSE(view.asks[0].scheduling_attempted); // the user's headroom comes before (S-341 no. 4)
    const auto exceeded = c.ask_events();
    REQUIRE(exceeded.size() == 1);
    CHECK(exceeded[0].find("Request 'k' exceeds the available user quota (requested ") != std::string::npos);
    REQUIRE(c.configure("[{name: a, resources: {max: {vcore: 2m}}}]") == "ok");
    c.cycles(2);
    const auto fits = c.ask_events(); // fits the user's, then not the queue's
    REQUIRE(fits.size() == 2);
    CHECK(fits[0].find("'k'") != std::string::npos);
    CHECK(fits[0].find("user quota") != std::string::npos);
    CHECK(fits[0].find("exceeds") == std::string::npos);
    CHECK(c.app("app").asks[0].scheduling_attempted);
}

TEST_CASE("C-409 S-411 a reservation waits for the user's headroom too") {
    constexpr const char* limited = "[{{name: a, limits: [{{users: [bob], maxresources: {{vcore: {}m}}}}]}}]";
    Cluster c{fmt::format(limited, 20)};
    c.node("spare", "vcore:100", "createdrain").nodes(1, "vcore:10"); // room in the queue, on no node
    submit(c, "app", "root.a", "bob");
    submit(c, "rest", "root.a", "ann");
    c.existing("rest", "1", "vcore:8", "n-0").ask("app", "k", "vcore:5", "tags=creationTime:1");
    c.cycles(1);
    REQUIRE(c.reserved_on("n-0") == "k");
    REQUIRE(c.configure(fmt::format(limited, 4)) == "ok");
    c.release("rest", "1");
    CHECK(c.cycles(2) == 0);
    CHECK(c.reserved_on("n-0") == "k"); // S-413: not yet
    REQUIRE(c.configure(fmt::format(limited, 5)) == "ok");
    CHECK(c.cycles(1) == 1);
    CHECK(c.reserved_on("n-0").empty());
}

TEST_CASE("C-409 S-413 a reservation without headroom for an hour is dropped") {
    Cluster c{"[{name: a}]"};
    c.node("spare", "vcore:100", "createdrain").nodes(1, "vcore:10"); // room in the queue, on no node
    submit(c, "app", "root.a", "bob");
    submit(c, "rest", "root.a", "ann");
    c.existing("rest", "1", "vcore:8", "n-0").ask("app", "k", "vcore:5", "tags=creationTime:1");
    c.cycles(1);
    REQUIRE(c.reserved_on("n-0") == "k");
    REQUIRE(c.configure("[{name: a, limits: [{users: [bob], maxresources: {vcore: 4m}}]}]") == "ok");
    c.advance(std::chrono::minutes{61}).cycles(1);
    CHECK(c.reserved_on("n-0").empty());
}

TEST_CASE("C-103 limits of the partition are those of root") {
    Cluster c{"[{name: a}]", {}, "limits: [{users: [bob], maxresources: {vcore: 2m}}]"};
    c.nodes(1, "vcore:100");
    submit(c, "app", "root.a", "bob");
    c.asks("app", 5, "vcore:1");
    CHECK(c.cycles(5) == 2);
}

} // namespace yk::testing
