// SPDX-License-Identifier: Apache-2.0
// scheduling.md sections 14, 15 and 19, 20: applications and queues, what the RM is told, the events.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"

namespace yk::testing {

TEST_CASE("S-490 refused applications") {
    struct Row {
        const char* app;
        std::string answer;
        Lines fragments;
    };
    const Row rows[] = {
        {"new id=x part=other queue=root.a",
         "rejected application x of [rm]other: P_PARTITION_UNKNOWN",
         {"partition", "other", "x"}},
        {"new id=live queue=root.a", "rejected application live: P_APP_EXISTS", {"live", "already existed"}},
        {"new id=x queue=root.nowhere", "rejected application x: P_PLACEMENT", {"failed to place application x"}},
        {"new id=x queue=root.p", "rejected application x: P_PLACEMENT", {"failed to place application x"}},
    };
    Cluster c{"[{name: a}, {name: p, queues: [{name: q}]}]"};
    c.application("live");
    c.notices();
    for (const Row& row : rows) {
        INFO(row.app);
        c.play(std::string("apps ") + row.app);
        const auto notices = c.notices_in_full();
        REQUIRE(notices.size() == 1);
        CHECK(head_of(notices[0]) == row.answer);
        for (const std::string& fragment : row.fragments) CHECK(notices[0].find(fragment) != std::string::npos);
    }
    CHECK(c.state_of("live") == "New");
    CHECK(c.state_of("x") == "Rejected");
    CHECK(c.partition().applications == 1);
    c.application("x"); // the id of a rejected one may be used again (S-492)
    CHECK(c.state_of("x") == "New");
}

TEST_CASE("C-351 why an application is not taken, in words") {
    Cluster c;
    c.application("live");
    const auto reason = [&c](const std::string& fields) {
        c.notices();
        c.play("apps new " + fields);
        const auto notices = c.notices_in_full();
        REQUIRE(notices.size() == 1);
        return notices[0].substr(notices[0].find('#'));
    };
    const auto contains = [](const std::string& text) { return Catch::Contains("[" + text + "]"); };
    CHECK_THAT(reason("id=live queue=root.a"),
               contains("adding application live to partition [rm]default, but application already existed"));
    CHECK_THAT(reason("id=x part=other queue=root.a"),
               contains("Failed to add application x to partition [rm]other, partition doesn't exist"));
    const_cast<PartitionState&>(c.core().find_partition("default")->state()).state = ObjectState::Stopped;
    CHECK_THAT(reason("id=x queue=root.a"),
               contains("partition [rm]default is stopped cannot add a new application x"));
    CHECK_THAT(reason("id=live queue=root.a"), // the partition comes first
               contains("partition [rm]default is stopped cannot add a new application live"));
}

TEST_CASE("S-491 an accepted application is New in its leaf; queue names know no case") {
    Cluster c{"[{name: Mixed}]"};
    c.application("app", "root.mIXED");
    CHECK(c.notices() == Lines{"accepted application app in root.mixed"});
    CHECK(c.state_of("app") == "New");
    CHECK(c.queue("root.mixed").applications == 1);
}

TEST_CASE("I-170 new and remove in one request") {
    Cluster c;
    c.play("apps new id=app queue=root.a | remove id=app");
    CHECK(c.notices() == Lines{"accepted application app in root.a"});
    CHECK(c.state_of("app") == "gone");
}

TEST_CASE("S-493 removal by the RM") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").asks("app", 3, "vcore:4");
    c.cycles(2);
    c.notices();
    c.remove("app").remove("app").remove("nobody");
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 1);
    CHECK(head_of(notices[0]) == "released app/app-0: STOPPED_BY_RM, app/app-1: STOPPED_BY_RM");
    CHECK(notices[0].find("[", notices[0].find("#")) != std::string::npos);
    CHECK(notices[0].find("app", notices[0].find("#")) != std::string::npos);
    CHECK(c.state_of("app") == "gone");
    CHECK(c.queue("root").pending.empty());
    CHECK(c.queue("root").allocated.empty());
    CHECK(c.node_view("n-0").allocation_count == 0);
}

// --- queues and configuration ---------------------------------------------------------------------------------------

TEST_CASE("S-561 S-161 S-560 a queue that leaves the configuration drains, then goes") {
    Cluster c{"[{name: a, queues: [{name: x}, {name: y}]}, {name: b}]"};
    c.nodes(1, "vcore:10").application("app", "root.a.x").ask("app", "k", "vcore:1");
    CHECK(c.configure("[{name: b}]") == "ok");
    for (const char* path : {"root.a", "root.a.x", "root.a.y"}) CHECK(c.queue(path).state == "Draining");
    c.notices();
    c.application("late", "root.a.x");
    CHECK(c.state_of("late") == "Rejected");
    CHECK(c.cycles(1) == 1); // what is there goes on
    c.ask("app", "k2", "vcore:1");
    CHECK(c.cycles(1) == 1);
    c.advance(std::chrono::seconds(10));
    CHECK(c.queue("root.a.x").state == "Draining");
    CHECK(c.queue("root.a.y").state == "gone");
    c.remove("app").events();
    c.advance(std::chrono::seconds(10));
    CHECK(c.events() == Lines{"QUEUE root.a.x REMOVE NONE", "QUEUE root.a REMOVE NONE"}); // bottom up
}

TEST_CASE("S-561 C-433 naming a draining queue again makes it Active") {
    Cluster c{"[{name: a}, {name: b}]"};
    c.configure("[{name: b}]");
    CHECK(c.queue("root.a").state == "Draining");
    c.configure("[{name: b}, {name: a}]");
    CHECK(c.queue("root.a").state == "Active");
    c.advance(std::chrono::seconds(30));
    CHECK(c.queue("root.a").state == "Active");
}

TEST_CASE("S-561 changes act at once and are told as events") {
    Cluster c{"[{name: a, resources: {max: {vcore: 5m}}}]"};
    c.nodes(1, "vcore:20").application("app").asks("app", 4, "vcore:5");
    CHECK(c.cycles(3) == 1);
    c.events();
    CHECK(c.configure("[{name: a, resources: {guaranteed: {vcore: 1m}, max: {vcore: 10m}}}, {name: b}]") == "ok");
    CHECK(c.events() ==
          Lines{"QUEUE root.a SET QUEUE_MAX", "QUEUE root.a SET QUEUE_GUARANTEED", "QUEUE root.b ADD NONE"});
    CHECK(c.cycles(3) == 1);
    CHECK(c.configure("[{name: a}, {name: b}]") == "ok");
    CHECK(c.cycles(3) == 2);
    c.events();
    CHECK(c.configure("[{name: a}, {name: b}]") == "ok");
    CHECK(c.events().empty());
}

TEST_CASE("S-562 C-435 a leaf with applications cannot become a parent") {
    Cluster c{"[{name: a}, {name: empty}]"};
    c.application("app");
    const std::string before = c.queue("root.empty").path;
    CHECK(c.configure("[{name: a, queues: [{name: x}]}, {name: empty}, {name: more}]") == "refused");
    CHECK(c.queue("root.more").state == "gone");
    c.events();
    CHECK(c.configure("[{name: a}, {name: empty, queues: [{name: x}]}]") == "ok");
    CHECK_FALSE(c.queue("root.empty").leaf);
    const auto events = c.events();
    CHECK(std::count(events.begin(), events.end(), "QUEUE root.empty SET QUEUE_TYPE") == 1);
}

TEST_CASE("S-562 C-435 a parent becomes a leaf as soon as nobody uses what is below it, which goes at once") {
    Cluster c{"[{name: p, queues: [{name: x, queues: [{name: y}]}, {name: z}]}, {name: b}]"};
    c.application("app", "root.p.x.y");
    CHECK(c.configure("[{name: p}, {name: b}]") == "refused");
    CHECK(c.queue("root.p.z").state == "Active");
    c.remove("app").events();
    CHECK(c.configure("[{name: p}, {name: b}]") == "ok");
    CHECK(c.events() == Lines{"QUEUE root.p.x.y REMOVE NONE", "QUEUE root.p.x REMOVE NONE",
                              "QUEUE root.p.z REMOVE NONE", "QUEUE root.p SET QUEUE_TYPE"});
    CHECK(c.queue("root.p").leaf);
    CHECK(c.queue("root.p").children.empty());
    c.nodes(1, "vcore:5").application("late", "root.p").ask("late", "k", "vcore:1");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("S-563 a partition that leaves the configuration goes with everything in it") {
    const std::string one = "{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}";
    const std::string two = "{name: second, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}";
    Cluster c;
    CHECK(c.play(fmt::format("config partitions: [{}, {}]", one, two)) == "ok");
    c.play("nodes create id=n part=second res=vcore:5");
    c.play("apps new id=app part=second queue=root.a");
    c.play("alloc ask app=app key=k part=second res=vcore:1");
    CHECK(c.cycles(1) == 1);
    c.notices();
    CHECK(c.play(fmt::format("config partitions: [{}]", one)) == "ok");
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 2);
    CHECK(notices[0] == fmt::format("application app of [rm]second is Failing # at {}, PartitionRemoved", c.now().ns));
    CHECK(head_of(notices[1]) == "released app/k of [rm]second: STOPPED_BY_RM");
    CHECK(c.core().partition_names() == Lines{"default"});
}

TEST_CASE("S-600 C-415 C-434 I-124 events tell of all that goes with a partition") {
    const std::string one = "{name: default, queues: [{name: root, submitacl: '*'}]}";
    const std::string two =
        "{name: second, placementrules: [{name: provided, create: true}], queues: [{name: root, submitacl: '*', "
        "limits: "
        "[{users: ['*'], maxapplications: 9}], queues: [{name: a, queues: [{name: x, limits: [{users: [ann], groups: "
        "[g], maxapplications: 2}]}]}]}]}";
    for (const bool dropped : {false, true}) { // the partition leaves the configuration, or all go
        INFO(dropped);
        Cluster c;
        CHECK(c.play(fmt::format("config partitions: [{}, {}]", one, two)) == "ok");
        c.play("apps new id=app part=second queue=root.a.x | new id=other part=second queue=root.d");
        c.events(true);
        if (dropped)
            c.core().drop_everything(c.now());
        else
            CHECK(c.play(fmt::format("config partitions: [{}]", one)) == "ok");
        Lines notices;
        for (const std::string& line : c.events(true))
            if (line.find(" REMOVE ") != std::string::npos && line.find("QUEUE_APP") == std::string::npos &&
                line.rfind("APP ", 0) != 0)
                notices.push_back(line);
        Lines expected{"USERGROUP * REMOVE UG_USER_LIMIT ref=root",
                       "USERGROUP ann REMOVE UG_USER_LIMIT ref=root.a.x",
                       "USERGROUP g REMOVE UG_GROUP_LIMIT ref=root.a.x",
                       "QUEUE root.a.x REMOVE NONE",
                       "QUEUE root.a REMOVE NONE",
                       "QUEUE root.d REMOVE QUEUE_DYNAMIC",
                       "QUEUE root REMOVE NONE"};
        if (dropped) // the other partition's, with the queue that drains there
            expected.insert(expected.begin(), {"QUEUE root.a REMOVE NONE", "QUEUE root REMOVE NONE"});
        CHECK(notices == expected);
    }
}

TEST_CASE("C-030 C-446 I-111 a partition written in another case is the same one and keeps its name") {
    const std::string one = "{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}";
    const auto two = [](const char* name, const char* queue) {
        return fmt::format("{{name: {}, queues: [{{name: root, submitacl: '*', queues: [{{name: {}}}]}}]}}", name,
                           queue);
    };
    Cluster c;
    CHECK(c.play(fmt::format("config partitions: [{}, {}]", one, two("gpu", "a"))) == "ok");
    c.play("nodes create id=n part=gpu res=vcore:5");
    c.play("apps new id=app part=gpu queue=root.a");
    c.play("alloc ask app=app key=k part=gpu res=vcore:1");
    CHECK(c.cycles(1) == 1);
    c.notices();
    const std::string again = fmt::format("partitions: [{}, {}]", one, two("GPU", "a, parent: true"));
    CHECK_FALSE(c.core().check_configuration(*load_configuration(again)).ok()); // C-435: the queue has applications
    CHECK(c.play("config " + again) == "refused");
    CHECK(c.play(fmt::format("config partitions: [{}, {}]", two("GPU", "b"), one)) == "ok");
    CHECK(c.notices() == Lines{});
    CHECK(c.core().partition_names() == Lines{"default", "gpu"});
    CHECK(node_view(*c.core().read("gpu"), "n")->allocation_count == 1);
    CHECK(queue_view(*c.core().read("gpu"), "root.a", false)->state == "Draining");
    CHECK(queue_view(*c.core().read("gpu"), "root.b", false)->state == "Active");
    c.play("nodes create id=m part=GPU res=vcore:5"); // requests name a partition exactly
    CHECK(c.notices() == Lines{"rejected node m of [rm]GPU: P_PARTITION_UNKNOWN"});
}

// --- what the RM is told (S-590) ------------------------------------------------------------------------------------

TEST_CASE("S-590 G-014 one action, all its callbacks, in order") {
    Cluster c;
    CHECK(c.notices() == Lines{}); // configuration
    c.node("n", "vcore:10");
    CHECK(c.notices() == Lines{"accepted node n"});
    c.application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a"});
    c.ask("app", "k1", "vcore:2");
    CHECK(c.notices() == Lines{"application app is Accepted"});
    c.ask("app", "k2", "vcore:2");
    CHECK(c.notices() == Lines{});
    c.cycles(1);
    CHECK(c.notices() == Lines{"application app is Running", "allocated app/k1 on n"});
    c.cycles(1);
    CHECK(c.notices() == Lines{"allocated app/k2 on n"});
    c.play("nodes update id=n res=vcore:11");
    c.play("nodes drain id=n");
    c.play("nodes schedulable id=n");
    CHECK(c.notices() == Lines{});
    c.release("app", "k1");
    CHECK(c.notices() == Lines{"released app/k1: STOPPED_BY_RM"});
    c.release("app", "k2");
    CHECK(c.notices() == Lines{"application app is Completing", "released app/k2: STOPPED_BY_RM"});
    c.ask("app", "k3", "vcore:2");
    CHECK(c.notices() == Lines{"application app is Running"});
    c.release("app", "k3");
    CHECK(c.notices() == Lines{"application app is Completing"});
    c.advance(std::chrono::seconds(30));
    CHECK(c.notices() == Lines{"application app is Completed"});
    c.advance(std::chrono::hours(72));
    CHECK(c.notices() == Lines{"application app is Expired"});
    c.application("bad", "root.nowhere");
    CHECK(c.notices() == Lines{"rejected application bad: P_PLACEMENT"});
    c.ask("bad", "k", "vcore:1");
    CHECK(c.notices() == Lines{"rejected ask bad/k: P_APP_UNKNOWN"});
    c.application("next").existing("next", "k", "vcore:2", "n");
    CHECK(c.notices() == Lines{"accepted application next in root.a", "application next is Accepted",
                               "application next is Running", "allocated next/k on n"});
    c.release("next", "k", 3);
    CHECK(c.notices() == Lines{"application next is Completing"});
}

TEST_CASE("S-591 I-031 an allocation tells everything") {
    Cluster c;
    c.node("n", "vcore:10").application("app").ask("app", "k", "vcore:2", "prio=3 group=g originator=1 tags=color:red");
    c.notices();
    c.cycles(1);
    CHECK(c.notices_in_full().at(1) == "allocated app/k on n # queue root.a, priority 3, 2 vcore, tag color=red, "
                                       "task group g, originator");
}

TEST_CASE("S-142 G-014 updates carry time and message") {
    Cluster c;
    c.application("app");
    c.notices();
    c.advance(std::chrono::seconds(5)).ask("app", "k", "vcore:1");
    CHECK(c.notices_in_full() == Lines{fmt::format("application app is Accepted # at {}, runApplication", c.now().ns)});
}

// --- events (S-600) -------------------------------------------------------------------------------------------------

TEST_CASE("S-600 the events of a short life") {
    Cluster c{"[{name: a}]"};
    CHECK(c.events() == Lines{"QUEUE root ADD NONE", "QUEUE root.a ADD NONE"});
    c.node("n", "vcore:10");
    CHECK(c.events() == Lines{"NODE n SET NODE_SCHEDULABLE", "QUEUE root SET QUEUE_MAX", "NODE n ADD NONE"});
    c.application("app");
    CHECK(c.events() == Lines{"APP app ADD APP_NEW", "QUEUE root.a ADD QUEUE_APP ref=app"});
    c.ask("app", "k", "vcore:2");
    CHECK(c.events() == Lines{"APP app SET APP_ACCEPTED", "APP app ADD APP_REQUEST ref=k"});
    c.cycles(1);
    CHECK(c.events() == Lines{"NODE n ADD NODE_ALLOC ref=k", "APP app SET APP_RUNNING", "APP app ADD APP_ALLOC ref=k"});
    c.play("nodes update id=n res=vcore:12");
    CHECK(c.events() == Lines{"QUEUE root SET QUEUE_MAX", "NODE n SET NODE_CAPACITY"});
    c.play("nodes update id=n occ=vcore:1");
    CHECK(c.events() == Lines{"NODE n SET NODE_OCCUPIED"});
    c.application("bad", "root.nowhere");
    CHECK(c.events() == Lines{"APP bad ADD APP_NEW", "APP bad SET APP_REJECT"});
}

TEST_CASE("S-600 the detail of a removed allocation by type") {
    const auto detail = [](int type) {
        Cluster c;
        c.node("n", "vcore:10").application("app").asks("app", 2, "vcore:2");
        c.cycles(2);
        c.events();
        c.release("app", "app-0", type);
        for (const std::string& event : c.events())
            if (event.rfind("APP app REMOVE ALLOC", 0) == 0) return event;
        return std::string();
    };
    CHECK(detail(0) == "APP app REMOVE ALLOC_CANCEL ref=app-0"); // unknown is a cancellation [FIX SD-31]
    CHECK(detail(1) == "APP app REMOVE ALLOC_CANCEL ref=app-0");
    CHECK(detail(2) == "APP app REMOVE ALLOC_TIMEOUT ref=app-0");
    CHECK(detail(3) == "APP app REMOVE ALLOC_PREEMPT ref=app-0");
}

} // namespace yk::testing
