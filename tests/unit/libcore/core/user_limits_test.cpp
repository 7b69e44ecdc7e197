// config.md sections 13 and 14: limits of users and groups, C-400 to C-427, through the front door. What they do in
// longer runs is in tests/scenarios/limits and tests/differential.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using Lines = std::vector<std::string>;
using Map = ResourceMapView;

void submit(Cluster& c, const std::string& id, const std::string& queue, const std::string& user,
            const std::string& groups = {}) {
    c.play(fmt::format("apps new id={} queue={} user={} groups={}", id, queue, user, groups));
}

Lines names(const std::vector<UsageView>& views) {
    Lines names;
    for (const UsageView& view : views) names.push_back(view.name);
    return names;
}

Lines users(Cluster& c) {
    return names(c.core().user_views("default"));
}

Lines groups(Cluster& c) {
    return names(c.core().group_views("default"));
}

const UsageView* find(const std::vector<UsageView>& views, const std::string& name) {
    for (const UsageView& view : views)
        if (view.name == name) return &view;
    return nullptr;
}

/// What is tracked at one queue; nothing of anything when there is no such place.
UsageQueueView at(const UsageQueueView& from, const std::string& path) {
    if (from.path == path) return from;
    for (const UsageQueueView& child : from.children)
        if (const UsageQueueView found = at(child, path); found.path == path) return found;
    return {};
}

UsageQueueView of_user(Cluster& c, const std::string& name, const std::string& path) {
    const auto views = c.core().user_views("default");
    const UsageView* view = find(views, name);
    return view == nullptr ? UsageQueueView{} : at(view->root, path);
}

UsageQueueView of_group(Cluster& c, const std::string& name, const std::string& path) {
    const auto views = c.core().group_views("default");
    const UsageView* view = find(views, name);
    return view == nullptr ? UsageQueueView{} : at(view->root, path);
}

/// The group that an application counts for; empty: none.
std::string group_of(Cluster& c, const std::string& user, const std::string& app) {
    const auto views = c.core().user_views("default");
    const UsageView* view = find(views, user);
    if (view == nullptr || view->groups.count(app) == 0) return {};
    return view->groups.at(app);
}

} // namespace

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
    const auto other = c.core().user_views("other");
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

TEST_CASE("C-406 a pending ask does not keep an application in the running set, a lost node takes it out") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxapplications: 1}]}]"};
    c.nodes(1, "vcore:10");
    submit(c, "x", "root.a", "bob");
    submit(c, "y", "root.a", "bob");
    c.ask("x", "1", "vcore:9").ask("x", "2", "vcore:9").ask("y", "1", "vcore:1");
    CHECK(c.cycles(3) == 1);
    CHECK(of_user(c, "bob", "root.a").running == Lines{"x"});
    c.play("nodes decommission id=n-0");
    CHECK(of_user(c, "bob", "root.a").running.empty());
    CHECK(c.state_of("x") == "Running");
    CHECK(of_user(c, "bob", "root.a").usage.empty());
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
        {"{users: [bob], maxapplications: 1}", "{groups: [g], maxapplications: 1}", 5}, // C-412
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
    const std::string limited = "[{{name: a, limits: [{{users: [bob], maxresources: {{vcore: {}m}}}}]}}]";
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

TEST_CASE("C-409 the user's headroom is looked at before the queue's and says so once") {
    Cluster c{"[{name: a, resources: {max: {vcore: 2m}}, limits: [{users: [bob], maxresources: {vcore: 2m}}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "app", "root.a", "bob");
    c.existing("app", "1", "vcore:2", "n-0").ask("app", "k", "vcore:1");
    c.cycles(3);
    const auto view = c.app("app");
    REQUIRE(view.asks.size() == 1);
    REQUIRE(view.asks[0].log.size() == 1);
    CHECK(view.asks[0].log[0].message == "Not enough user quota");
    CHECK_FALSE(view.asks[0].scheduling_attempted); // S-341 no. 4
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
    const std::string limited = "[{{name: a, limits: [{{users: [bob], maxresources: {{vcore: {}m}}}}]}}]";
    Cluster c{fmt::format(limited, 20)};
    c.nodes(1, "vcore:10");
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
    c.nodes(1, "vcore:10");
    submit(c, "app", "root.a", "bob");
    submit(c, "rest", "root.a", "ann");
    c.existing("rest", "1", "vcore:8", "n-0").ask("app", "k", "vcore:5", "tags=creationTime:1");
    c.cycles(1);
    REQUIRE(c.reserved_on("n-0") == "k");
    REQUIRE(c.configure("[{name: a, limits: [{users: [bob], maxresources: {vcore: 4m}}]}]") == "ok");
    c.advance(std::chrono::minutes{61}).cycles(1);
    CHECK(c.reserved_on("n-0").empty());
}

// --- running applications (C-410 to C-413) --------------------------------------------------------------------------

TEST_CASE("C-410 C-416 may a second application run") {
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
        {"{users: [user1], maxresources: {vcore: 9m}}", true}, // C-412
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
    c.ask("x", "1", "vcore:1").ask("y", "1", "vcore:1").ask("z", "1", "vcore:1");
    CHECK(c.cycles(4) == 2);
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
    const std::string limited = "[{{name: a, limits: [{{users: [bob], maxapplications: {}}}]}}]";
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

TEST_CASE("C-411 both answers have events of their own, once per change") {
    const std::string limited = "[{{name: a, maxapplications: {}, limits: [{{users: [bob], maxapplications: {}}}]}}]";
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
    CHECK(c.events(true).empty()); // S-456
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
    for (const UsageView& group : c.core().group_views("default")) CHECK(group.applications.empty());
}

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

TEST_CASE("C-424 who falls to * by a reload brings its usage along") {
    const std::string parent =
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

TEST_CASE("C-103 limits of the partition are those of root") {
    Cluster c{"[{name: a}]", {}, "limits: [{users: [bob], maxresources: {vcore: 2m}}]"};
    c.nodes(1, "vcore:100");
    submit(c, "app", "root.a", "bob");
    c.asks("app", 5, "vcore:1");
    CHECK(c.cycles(5) == 2);
}

} // namespace yk::testing
