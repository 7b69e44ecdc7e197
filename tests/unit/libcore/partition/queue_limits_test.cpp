// SPDX-License-Identifier: Apache-2.0
// scheduling.md section 6: headroom, the increase of usage, maxApplications; and the back-off of S-345.

#include <catch2/catch.hpp>

#include "tests/support/cluster.h"

namespace yk::testing {

TEST_CASE("S-250 headroom of a tree") {
    Cluster c{"[{name: p, parent: true, resources: {max: {a: 20, b: 8}}, queues: [{name: l1}, {name: l2}]}]"};
    c.node("n", "a:20,b:10").application("x", "root.p.l1").application("y", "root.p.l2");
    c.existing("x", "1", "a:5,b:3", "n").existing("y", "2", "a:5,b:3", "n");
    CHECK(c.queue("root").headroom == Map{{"a", 10}, {"b", 4}});
    CHECK(c.queue("root.p").headroom == Map{{"a", 10}, {"b", 2}});
    CHECK(c.queue("root.p.l1").headroom == Map{{"a", 10}, {"b", 2}});
}

TEST_CASE("S-250 headroom without a cluster") {
    Cluster c{"[{name: p, resources: {max: {a: 20, b: 10}}, queues: [{name: l1, resources: {max: {a: 10}}}, "
              "{name: l2, resources: {max: {d: 10}}}]}, {name: free}]"};
    CHECK_FALSE(c.queue("root").headroom.has_value());
    CHECK_FALSE(c.queue("root.free").headroom.has_value());
    CHECK(c.queue("root.p").headroom == Map{{"a", 20}, {"b", 10}});
    CHECK(c.queue("root.p.l1").headroom == Map{{"a", 10}, {"b", 10}});
    CHECK(c.queue("root.p.l2").headroom == Map{{"a", 20}, {"b", 10}, {"d", 10}});
}

TEST_CASE("S-250 a headroom can be negative") {
    Cluster c{"[{name: a, resources: {max: {vcore: 5m}}}]"};
    c.nodes(1, "vcore:10").application("x").existing("x", "1", "vcore:8", "n-0");
    CHECK(c.queue("root.a").headroom == Map{{"vcore", -3}});
}

TEST_CASE("S-250 S-341 a queue limit stops a second ask") {
    Cluster c{"[{name: a, resources: {max: {vcore: 10m}}}]"};
    c.nodes(2, "vcore:8").application("app").asks("app", 2, "vcore:6");
    CHECK(c.cycles(3) == 1);
    CHECK(c.allocations_of("app") == 1);
    const auto view = c.app("app");
    REQUIRE(view.asks.size() == 1);
    REQUIRE(view.asks[0].log.size() == 1);
    CHECK(view.asks[0].log[0].message == "Not enough queue quota");
    CHECK(view.asks[0].scheduling_attempted);
}

TEST_CASE("S-252 only the types that the ask names matter") {
    Cluster c{"[{name: a, resources: {max: {x: 1, y: 0}}}]"};
    c.nodes(1, "x:9,y:9,z:9").application("app").existing("app", "over", "y:1", "n-0");
    c.ask("app", "fits", "x:1,z:5").ask("app", "none-of-y", "y:1");
    CHECK(c.cycles(3) == 1);
    CHECK(c.placed("app") == "fits over");
}

TEST_CASE("S-252 S-034 a zero in an ask is checked against a max that is exceeded") {
    Cluster c{"[{name: a, resources: {max: {gpu: 1}}}]"};
    c.nodes(1, "vcore:9,gpu:9").application("app").existing("app", "over", "gpu:2", "n-0");
    c.ask("app", "with-zero", "vcore:1,gpu:0").ask("app", "without", "vcore:1");
    c.cycles(3);
    CHECK(c.placed("app") == "over without");
}

TEST_CASE("S-035 a max of 0 forbids a type, a max without types is none") {
    Cluster c{"[{name: none, resources: {max: {gpu: 0}}}, {name: all, resources: {max: {}}}]"};
    c.nodes(1, "vcore:9,gpu:9").application("x", "root.none").application("y", "root.all");
    c.ask("x", "k", "vcore:1,gpu:1").ask("y", "k", "vcore:1,gpu:1");
    CHECK(c.cycles(3) == 1);
    CHECK(c.placed("y") == "k");
    CHECK_FALSE(c.queue("root.all").max.has_value());
}

TEST_CASE("S-254 a max below the usage releases nothing and stops new asks") {
    Cluster c;
    c.nodes(1, "vcore:20").application("app").asks("app", 3, "vcore:4");
    c.cycles(2);
    CHECK(c.configure("[{name: a, resources: {max: {vcore: 5m}}}]") == "ok");
    CHECK(c.cycles(2) == 0);
    CHECK(c.allocations_of("app") == 2);
    c.release("app", "app-0");
    CHECK(c.cycles(1) == 0); // 4 + 4 > 5
    c.release("app", "app-1");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("section 22 no. 2 the limit of a parent") {
    Cluster c{"[{name: p, parent: true, resources: {max: {vcore: 100m}}, queues: [{name: a}, {name: b}]}]"};
    c.nodes(1, "vcore:150").application("app", "root.p.a").asks("app", 12, "vcore:10");
    CHECK(c.cycles(20) == 10);
    CHECK(c.queue("root.p").pending == Map{{"vcore", 20}});
    for (int i = 0; i < 10; ++i) c.release("app", "app-" + std::to_string(i));
    CHECK(c.cycles(2) == 2);
}

TEST_CASE("S-260 S-340 maxApplications holds back applications, it does not refuse them") {
    Cluster c{"[{name: a, maxapplications: 1}]"};
    c.nodes(1, "vcore:10").application("one").advance(std::chrono::seconds(1)).application("two");
    c.asks("one", 2, "vcore:1").asks("two", 1, "vcore:1");
    CHECK(c.cycles(4) == 2);
    CHECK(c.state_of("two") == "Accepted");
    c.release("one", "");
    CHECK(c.cycles(1) == 1);
    CHECK(c.state_of("two") == "Running");
}

TEST_CASE("S-260 the limit of an ancestor, the root's too") {
    const auto running = [](const std::string& queues, const std::string& root) {
        Cluster c{queues, root};
        c.nodes(1, "vcore:10").application("one", "root.p.a").application("two", "root.p.b");
        c.ask("one", "k", "vcore:1").ask("two", "k", "vcore:1");
        return c.cycles(3);
    };
    CHECK(running(
              "[{name: p, maxapplications: 1, queues: [{name: a, maxapplications: 1}, {name: b, maxapplications: 1}]}]",
              "") == 1);
    CHECK(running(
              "[{name: p, maxapplications: 1, queues: [{name: a, maxapplications: 1}, {name: b, maxapplications: 1}]}]",
              "maxapplications: 1") == 1);
    CHECK(running(
              "[{name: p, maxapplications: 2, queues: [{name: a, maxapplications: 1}, {name: b, maxapplications: 1}]}]",
              "maxapplications: 2") == 2);
}

TEST_CASE("S-261 S-263 a Completing application goes on above the limit") {
    Cluster c{"[{name: a, maxapplications: 1}]"};
    c.nodes(1, "vcore:10").application("one").advance(std::chrono::seconds(1)).application("two");
    c.ask("one", "k", "vcore:1");
    c.cycles(1);
    c.release("one", "k").ask("two", "k", "vcore:1");
    CHECK(c.cycles(1) == 1);
    c.ask("one", "again", "vcore:1"); // Running without asking
    CHECK(c.queue("root.a").running_applications == 2);
    CHECK(c.cycles(1) == 1);
    c.remove("two");
    CHECK(c.queue("root.a").running_applications == 1);
}

TEST_CASE("S-262 an Accepted application that reserved counts until it is gone") {
    Cluster c{"[{name: p, maxapplications: 1, queues: [{name: a, maxapplications: 1}]}]"};
    c.node("spare", "vcore:100", "createdrain"); // headroom, but no place
    c.nodes(1, "vcore:10").application("old", "root.p.a").existing("old", "used", "vcore:8", "n-0");
    CHECK(c.configure("[{name: p, maxapplications: 2, queues: [{name: a, maxapplications: 2}]}]") == "ok");
    c.application("one", "root.p.a").advance(std::chrono::seconds(1)).application("two", "root.p.a");
    c.ask("one", "k", "vcore:5").ask("two", "k", "vcore:1").advance(std::chrono::seconds(3));
    CHECK(c.cycles(1) == 0);
    CHECK(c.reserved_on("n-0") == "k");
    CHECK(c.queue("root.p").allocating_accepted == std::vector<std::string>{"one"});
    CHECK(c.cycles(1) == 0); // two is not runnable, and the node is reserved
    c.remove("one");
    CHECK(c.queue("root.p").allocating_accepted.empty());
    CHECK(c.cycles(1) == 1);
    CHECK(c.state_of("two") == "Running");
}

TEST_CASE("S-265 the runnable flag sends its event when it changes") {
    Cluster c{"[{name: a, maxapplications: 1}]"};
    c.nodes(1, "vcore:1").application("one").advance(std::chrono::seconds(1)).application("two");
    c.ask("one", "k", "vcore:1").ask("two", "k", "vcore:1");
    c.cycles(1);
    c.events();
    c.cycles(2);
    CHECK(c.events() == std::vector<std::string>{"APP two NONE APP_CANNOTRUN_QUEUE"});
    c.release("one", "k");
    c.events();
    c.cycles(1);
    CHECK(c.events().at(0) == "APP two NONE APP_RUNNABLE_QUEUE");
}

TEST_CASE("S-265 an application that runs already can always run") {
    Cluster c{"[{name: a, maxapplications: 1}]"};
    c.nodes(1, "vcore:1").application("one").asks("one", 2, "vcore:1");
    c.cycles(1);
    c.events();
    c.cycles(2);
    CHECK(c.events().empty());
}

TEST_CASE("S-345 S-340 back-off after unschedulable asks") {
    Cluster c{"[{name: a, properties: {application.unschedasks.backoff: '1', "
              "application.unschedasks.backoff.delay: 1500ms}}]"};
    c.nodes(2, "vcore:1000").application("app-1").advance(std::chrono::seconds(1)).application("app-2");
    c.ask("app-1", "big", "vcore:1500").ask("app-1", "small", "vcore:100").asks("app-2", 2, "vcore:100");
    CHECK(c.cycles(4) == 2);
    CHECK(c.allocations_of("app-1") == 0);
    CHECK(c.app("app-1").backoff_deadline.has_value());
    c.release("app-1", "big");
    CHECK(c.cycles(2) == 0);
    c.advance(std::chrono::milliseconds(1700));
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("S-345 without a further ask there is no back-off") {
    Cluster c{"[{name: a, properties: {application.unschedasks.backoff: '1'}}]"};
    c.nodes(1, "vcore:10").application("app").ask("app", "big", "vcore:15");
    c.cycles(2);
    CHECK_FALSE(c.app("app").backoff_deadline.has_value());
}

TEST_CASE("S-345 asks stopped by a limit do not count") {
    Cluster c{"[{name: a, resources: {max: {vcore: 10m}}, properties: {application.unschedasks.backoff: '1'}}]"};
    c.nodes(1, "vcore:100").application("app").ask("app", "big", "vcore:15").ask("app", "small", "vcore:1");
    CHECK(c.cycles(2) == 1);
}

TEST_CASE("S-345 S-341 asks for a type that no node has are stopped by no limit, so each of them counts") {
    Cluster c{"[{name: a, properties: {application.unschedasks.backoff: '2', "
              "application.unschedasks.backoff.delay: 5s}}]"};
    c.nodes(1, "memory:500").application("app");
    c.ask("app", "k-1", "memory:111,gpu:7", "prio=2").ask("app", "k-2", "memory:111,gpu:7", "prio=1"); // of one shape
    SECTION("and the application yields") {
        c.ask("app", "k-3", "memory:25");
        CHECK(c.cycles(4) == 0);
        CHECK(c.app("app").backoff_deadline == c.now() + std::chrono::seconds{5});
        c.release("app", "k-1").advance(std::chrono::seconds{5});
        CHECK(c.cycles(1) == 1);
    }
    SECTION("one that is too large in a type that is there does not") {
        c.release("app", "k-1").ask("app", "k-1", "memory:501,gpu:7", "prio=3").ask("app", "k-3", "memory:25");
        CHECK(c.cycles(4) == 1);
    }
    SECTION("one for a required node does not: it is only ever tried there") {
        c.release("app", "k-1").ask("app", "k-1", "gpu:7", "prio=3 tags=yunikorn.apache.org/requiredNode:gone");
        c.ask("app", "k-3", "memory:25");
        CHECK(c.cycles(4) == 1);
    }
}

} // namespace yk::testing
