// SPDX-License-Identifier: Apache-2.0
// scheduling.md section 13 and the life of nodes.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"

namespace yk::testing {

TEST_CASE("S-480 CREATE and what it rejects") {
    struct Row {
        const char* node;
        std::string answer;
        std::vector<std::string> fragments;
    };
    const Row rows[] = {
        {"create id=n res=vcore:5", "rejected node n: P_NODE_EXISTS", {"n", "existing"}},
        {"createdrain id=n res=vcore:5", "rejected node n: P_NODE_EXISTS", {"n", "existing"}},
        {"create id=x part=other res=vcore:5",
         "rejected node x of [rm]other: P_PARTITION_UNKNOWN",
         {"failed to find partition", "other"}},
        {"create id=x res=vcore:-5", "rejected node x: P_NEGATIVE", {"negative"}},
        {"create id=x", "accepted node x", {}},
    };
    Cluster c;
    c.node("n", "vcore:10,zero:0");
    CHECK(c.node_view("n").capacity == Map{{"vcore", 10}}); // pruned
    c.notices();
    c.events();
    for (const Row& row : rows) {
        INFO(row.node);
        const auto nodes_before = c.partition().nodes;
        c.play(std::string("nodes ") + row.node);
        const auto notices = c.notices_in_full();
        REQUIRE(notices.size() == 1);
        CHECK(head_of(notices[0]) == row.answer);
        for (const std::string& fragment : row.fragments) CHECK(notices[0].find(fragment) != std::string::npos);
        if (!row.fragments.empty()) {
            CHECK(c.partition().nodes == nodes_before);
            CHECK(c.events().empty()); // a rejected node is no event [FIX SD-25]
        }
    }
    CHECK(c.queue("root").max == Map{{"vcore", 10}});
}

TEST_CASE("I-178 I-172 other actions on unknown nodes fail, in one answer with the rest") {
    Cluster c;
    c.play("nodes drain id=x | create id=n res=vcore:1 | update id=y res=vcore:2 | nothing id=n | decommission id=z");
    CHECK(c.notices() == Lines{"accepted node n, failed to DRAIN node x: P_NODE_UNKNOWN, failed to UPDATE node y: "
                               "P_NODE_UNKNOWN, failed to UNSET node n: P_ACTION, failed to DECOMISSION node z: "
                               "P_NODE_UNKNOWN"});
}

TEST_CASE("I-111 I-140 elements of another RM's partition are answered in their place, in the one answer") {
    Cluster c;
    c.play("nodes create id=n res=vcore:1 | create id=m part=[other]default | drain id=n part=[other]default | "
           "create id=o part=[rm]default res=vcore:1 | create id=p part=[rm");
    CHECK(c.notices() ==
          Lines{"accepted node n, accepted node o, rejected node m of [other]default: P_PARTITION_FOREIGN, rejected "
                "node p of [rm: P_PARTITION_FOREIGN, failed to DRAIN node n of [other]default: P_PARTITION_FOREIGN"});
    c.play("apps new id=app queue=root.a | new id=app part=[other]default queue=root.a");
    CHECK(c.notices() ==
          Lines{"accepted application app in root.a, rejected application app of [other]default: P_PARTITION_FOREIGN"});
    c.play("alloc ask app=app key=a res=vcore:-1 | ask app=app key=b part=[other]default res=vcore:1");
    CHECK(c.notices() == Lines{"rejected ask app/a: P_NEGATIVE, rejected ask app/b of [other]default: "
                               "P_PARTITION_FOREIGN"});
}

TEST_CASE("I-175 a node stays in its partition; without the attribute it is found where it is") {
    const std::string queues = "queues: [{name: root, submitacl: '*', queues: [{name: a}]}]";
    Cluster c;
    CHECK(c.play(fmt::format("config partitions: [{{name: default, {}}}, {{name: gpu, {}}}]", queues, queues)) == "ok");
    c.play("nodes create id=n res=vcore:1 | create id=g part=gpu res=vcore:1");
    c.notices();
    c.play("nodes update id=n part=gpu res=vcore:9 | update id=n part=none res=vcore:9 | "
           "update id=n part=[other]gpu res=vcore:9 | drain id=n part=gpu");
    CHECK(c.notices() == Lines{"failed to UPDATE node n of [rm]gpu: P_PARTITION_CHANGE, failed to UPDATE node n of "
                               "[rm]none: P_PARTITION_UNKNOWN, failed to UPDATE node n of [other]gpu: "
                               "P_PARTITION_FOREIGN, failed to DRAIN node n of [rm]gpu: P_NODE_UNKNOWN"});
    CHECK(c.node_view("n").capacity == Map{{"vcore", 1}});
    c.play("nodes update id=g res=vcore:7 | drain id=g");
    CHECK(c.notices() == Lines{});
    const auto found = node_view(*c.core().read("gpu"), "g");
    REQUIRE(found);
    CHECK(found->capacity == Map{{"vcore", 7}});
    CHECK_FALSE(found->schedulable);
}

TEST_CASE("S-481 an allocation that a new node lists twice is announced once") {
    Cluster c;
    c.application("app");
    c.notices();
    c.play("nodes create id=n res=vcore:10 | existing app=app key=k res=vcore:2 | existing app=app key=k res=vcore:3");
    CHECK(c.notices() == Lines{"application app is Accepted", "application app is Running", "accepted node n",
                               "allocated app/k on n"});
    CHECK(c.node_view("n").available == Map{{"vcore", 7}});
}

TEST_CASE("S-481 existing allocations of a new node") {
    Cluster c;
    c.application("app");
    c.notices();
    c.play("nodes create id=n res=vcore:10 occ=vcore:1 | existing app=app key=k1 res=vcore:2 | existing app=app key=k2 "
           "res=vcore:3");
    CHECK(c.notices() == Lines{"application app is Accepted", "application app is Running", "accepted node n",
                               "allocated app/k1 on n", "allocated app/k2 on n"});
    CHECK(c.node_view("n").available == Map{{"vcore", 4}});
    c.notices();
    c.events();
    c.play("nodes create id=m res=vcore:10 | existing app=app key=k3 res=vcore:2 | existing app=nobody key=k4 "
           "res=vcore:3");
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 1);
    CHECK(head_of(notices[0]) == "rejected node m: P_EXISTING_ALLOCATION");
    CHECK(notices[0].find("nobody") != std::string::npos);
    CHECK(c.partition().nodes == 1);
    CHECK(c.allocations_of("app") == 2);
}

TEST_CASE("S-482 UPDATE replaces the capacity") {
    Cluster c;
    c.node("n", "vcore:10,memory:5");
    c.events();
    c.play("nodes update id=n res=vcore:10,memory:5");
    CHECK(c.events().empty());
    c.play("nodes update id=n res=vcore:20,gpu:0");
    CHECK(c.node_view("n").capacity == Map{{"vcore", 20}});
    CHECK(c.queue("root").max == Map{{"vcore", 20}});
    CHECK(c.partition().capacity == Map{{"vcore", 20}});
    c.play("nodes update id=n");
    CHECK(c.node_view("n").capacity == Map{{"vcore", 20}});
    c.notices();
    c.play("nodes update id=n occ=vcore:3");
    c.play("nodes update id=n occ=vcore:4");
    CHECK(c.node_view("n").available == Map{{"vcore", 16}});
    CHECK(c.notices() == Lines{});
}

TEST_CASE("S-486 root max follows the nodes") {
    Cluster c;
    c.node("a", "v:10").node("b", "v:10").node("c", "m:50");
    CHECK(c.queue("root").max == Map{{"m", 50}, {"v", 20}});
    c.play("nodes decommission id=c");
    CHECK(c.queue("root").max == Map{{"v", 20}});
    c.play("nodes decommission id=a | decommission id=b");
    CHECK_FALSE(c.queue("root").max.has_value());
}

TEST_CASE("section 22 no. 6 S-483 a drained node keeps what it has") {
    Cluster c;
    c.node("n", "vcore:10").application("app").asks("app", 2, "vcore:2");
    c.cycles(2);
    c.events();
    c.play("nodes drain id=n");
    c.play("nodes drain id=n");
    CHECK(c.events() == Lines{"NODE n SET NODE_SCHEDULABLE"});
    CHECK(c.allocations_of("app") == 2);
    CHECK(c.queue("root").max == Map{{"vcore", 10}});
    c.ask("app", "k", "vcore:2");
    CHECK(c.cycles(2) == 0);
    c.node("m", "vcore:2");
    CHECK(c.cycles(1) == 1);
    c.ask("app", "l", "vcore:2");
    CHECK(c.cycles(1) == 0);
    c.play("nodes schedulable id=n");
    CHECK(c.cycles(1) == 1);
    CHECK(c.node_of("app", "l") == "n");
}

TEST_CASE("section 22 no. 7 S-183 overshoot") {
    Cluster c;
    c.node("n", "vcore:10").application("app").existing("app", "k", "vcore:8", "n");
    c.play("nodes update id=n res=vcore:5");
    CHECK(c.node_view("n").available == Map{{"vcore", -3}});
    CHECK(c.queue("root").max == Map{{"vcore", 5}});
    CHECK(c.queue("root").headroom == Map{{"vcore", -3}});
    CHECK(c.allocations_of("app") == 1);
    for (const HealthCheckView& check : health_of(c.core())) {
        INFO(check.name << ": " << check.diagnosis);
        CHECK(check.succeeded);
    }
}

TEST_CASE("section 22 no. 4 asks before nodes") {
    Cluster c;
    c.application("app").asks("app", 2, "vcore:2");
    CHECK(c.cycles(2) == 0);
    c.node("n", "vcore:4");
    CHECK(c.cycles(3) == 2);
}

TEST_CASE("S-484 DECOMISSION") {
    Cluster c;
    c.nodes(2, "vcore:10").application("gone").application("stays");
    c.existing("gone", "a", "vcore:1", "n-0").existing("gone", "b", "vcore:1", "n-0");
    c.existing("stays", "c", "vcore:1", "n-0").existing("stays", "d", "vcore:1", "n-1");
    c.notices();
    c.events();
    c.play("nodes decommission id=n-0");
    CHECK(c.notices() == Lines{"application gone is Completing",
                               "released gone/a: STOPPED_BY_RM, gone/b: STOPPED_BY_RM, stays/c: STOPPED_BY_RM"});
    CHECK(c.state_of("stays") == "Running");
    CHECK(c.queue("root").allocated == Map{{"vcore", 1}});
    const auto events = c.events();
    REQUIRE(events.size() > 4);
    CHECK(events.front() == "NODE n-0 SET NODE_SCHEDULABLE");
    CHECK(events.back() == "NODE n-0 REMOVE NODE_DECOMISSION");
    for (const char* event : {"APP gone REMOVE ALLOC_NODEREMOVED ref=a", "APP stays REMOVE ALLOC_NODEREMOVED ref=c",
                              "NODE n-0 REMOVE NODE_ALLOC ref=b", "APP gone REMOVE REQUEST_CANCEL ref=a"})
        CHECK(std::count(events.begin(), events.end(), event) == 1);
    c.play("nodes create id=n-0 res=vcore:3");
    CHECK(c.node_view("n-0").available == Map{{"vcore", 3}});
    CHECK(c.node_view("n-0").schedulable);
}

TEST_CASE("S-165 CREATE_DRAIN adds a node that is not schedulable") {
    Cluster c;
    c.node("n", "vcore:4", "createdrain").application("app").ask("app", "k", "vcore:1");
    CHECK(c.queue("root").max == Map{{"vcore", 4}});
    CHECK(c.cycles(2) == 0);
    c.play("nodes schedulable id=n");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("I-175 the partition of a node cannot change") {
    Cluster c;
    CHECK(c.play("config partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}, "
                 "{name: second, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}]") == "ok");
    c.node("n", "vcore:4");
    c.notices();
    c.play("nodes update id=n part=second res=vcore:5");
    CHECK(c.notices() == Lines{"failed to UPDATE node n of [rm]second: P_PARTITION_CHANGE"});
    CHECK(c.node_view("n").capacity == Map{{"vcore", 4}});
}

} // namespace yk::testing
