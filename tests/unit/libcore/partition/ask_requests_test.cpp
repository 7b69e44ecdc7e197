// SPDX-License-Identifier: Apache-2.0
// scheduling.md sections 11, 12 and 16: asks, placements that the RM reports, releases, foreign allocations.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

Cluster running() {
    Cluster c;
    c.nodes(2, "vcore:10").application("app").asks("app", 2, "vcore:4");
    c.cycles(2);
    c.notices();
    c.events();
    return c;
}

} // namespace

TEST_CASE("S-450 refusals, the first failure counts") {
    struct Row {
        const char* ask;
        const char* code;
        Lines fragments;
    };
    const Row rows[] = {
        {"ask part=other app=app key=k res=vcore:1", "P_PARTITION_UNKNOWN", {"partition", "other", "app", "k"}},
        {"ask app=nobody key=k res=vcore:0", "P_APP_UNKNOWN", {"failed to find application nobody"}},
        {"ask app=app key=k res=vcore:0 placeholder=1", "P_PLACEHOLDER_GROUP", {"task group", "k"}},
        {"place app=app key=k res=vcore:0 node=nowhere", "P_NODE_UNKNOWN", {"failed to find node nowhere"}},
        {"ask app=app key=k res=vcore:0", "P_NO_RESOURCE", {"no resources"}},
        {"ask app=app key=k", "P_NO_RESOURCE", {"no resources"}},
        {"ask app=app key=k res=vcore:-1", "P_NEGATIVE", {"negative resources"}},
        {"ask app=app key=k res=vcore:1 max=2", "P_REPEAT", {"repeated asks are not supported"}},
    };
    Cluster c;
    c.nodes(1, "vcore:10").application("app");
    c.notices();
    for (const Row& row : rows) {
        INFO(row.ask);
        c.play(std::string("alloc ") + row.ask);
        const auto notices = c.notices_in_full();
        REQUIRE(notices.size() == 1);
        const bool ask = row.ask[0] == 'a';
        CHECK_THAT(notices[0], Catch::StartsWith(ask ? "rejected ask " : "rejected allocation "));
        CHECK_THAT(notices[0], Catch::Contains(fmt::format(": {} # ", row.code)));
        for (const std::string& fragment : row.fragments) CHECK(notices[0].find(fragment) != std::string::npos);
    }
    CHECK(c.state_of("app") == "New");
    CHECK(c.partition().pending_asks == 0);
}

TEST_CASE("S-450 an ask with more resource types than a partition holds is refused") {
    std::string types = "vcore:1";
    for (int i = 0; i < 70; ++i) types += fmt::format(",type-{}:1", i);
    Cluster c;
    c.nodes(1, "vcore:10").application("app");
    c.notices();
    for (const std::string where : {"ask app=app key=k", "place app=app key=k node=n-0"}) {
        c.play("alloc " + where + " res=" + types);
        const auto notices = c.notices_in_full();
        REQUIRE(notices.size() == 1);
        CHECK_THAT(notices[0],
                   Catch::Contains("app/k: P_NO_CAPACITY # ") && Catch::Contains("at most 64 resource types"));
    }
    c.ask("app", "good", "vcore:1");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("S-001 rmMaxResourceTypes: what would name more types is refused and takes no place, whatever it is") {
    Settings settings = Cluster::manual_settings();
    settings.budget.resource_types = 4; // vcore and memory are there
    Cluster c{"[{name: a}, {name: p, parent: true}]", {}, "placementrules: [{name: provided, create: true}]", settings};
    c.nodes(1, "vcore:10,three:5").application("app");
    c.notices();
    const auto refused = [&](const std::string& command) {
        c.play(command);
        const auto notices = c.notices_in_full();
        return notices.size() == 1 && notices[0].find(": P_NO_CAPACITY # ") != std::string::npos &&
               notices[0].find("at most 4 resource types (rmMaxResourceTypes") != std::string::npos;
    };
    CHECK(refused("alloc ask app=app key=k res=vcore:1,x:1,y:1"));
    CHECK(refused("alloc place app=app key=k node=n-0 res=x:1,y:1"));
    CHECK(refused("nodes create id=n-1 res=vcore:1,x:1,y:1"));
    CHECK(refused("nodes update id=n-0 res=vcore:1,x:1,y:1"));
    CHECK(refused("apps new id=gang queue=root.a user=u gang=x:1,y:1"));
    CHECK(refused("apps new id=tags queue=root.p.new user=u tagmax=x:1,y:1")); // its queue would have no limit
    c.ask("app", "fourth", "vcore:1,three:1,x:1"); // so nothing of what was refused took a place
    CHECK(c.partition().pending_asks == 1);
    c.notices();
    CHECK(refused("alloc ask app=app key=k res=y:1"));
    c.ask("app", "known", "vcore:1,three:1");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("S-441 S-442 one callback per list; the good entries count") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app");
    c.notices();
    c.play(
        "alloc ask app=app key=bad res=vcore:0 | ask app=app key=good res=vcore:1 | ask app=no key=worse res=vcore:1 "
        "| place app=app key=lost res=vcore:1 node=nowhere | place app=app key=there res=vcore:1 node=n-0");
    CHECK(c.notices() == // the placements come first
          Lines{"application app is Accepted", "application app is Running", "allocated app/there on n-0",
                "rejected allocation app/lost: P_NODE_UNKNOWN",
                "rejected ask app/bad: P_NO_RESOURCE, rejected ask no/worse: P_APP_UNKNOWN"});
    CHECK(c.app("app").pending == Map{{"vcore", 1}});
}

TEST_CASE("section 22 no. 9 the same key twice") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:5").ask("app", "k", "vcore:8");
    CHECK(c.app("app").pending == Map{{"vcore", 8}});
    CHECK(c.cycles(2) == 1);
    c.ask("app", "k", "vcore:3");
    CHECK(c.app("app").allocated == Map{{"vcore", 3}});
    CHECK(c.queue("root").allocated == Map{{"vcore", 3}});
    CHECK(c.node_view("n-0").available == Map{{"vcore", 7}});
}

TEST_CASE("S-451 the same message twice changes nothing and says nothing") {
    Cluster c = running();
    c.ask("app", "app-0", "vcore:4").existing("app", "app-1", "vcore:4", c.node_of("app", "app-1"));
    c.ask("app", "new", "vcore:1").ask("app", "new", "vcore:1");
    CHECK(c.notices() == Lines{});
    CHECK(c.events() == Lines{"APP app ADD APP_REQUEST ref=new"});
}

TEST_CASE("S-451 I-147 a placed key on another node is refused") {
    Cluster c = running();
    const std::string other = c.node_of("app", "app-0") == "n-0" ? "n-1" : "n-0";
    c.existing("app", "app-0", "vcore:5", other);
    CHECK(c.notices() == Lines{"rejected allocation app/app-0: P_NODE_MISMATCH"});
    CHECK(c.app("app").allocated == Map{{"vcore", 8}});
}

TEST_CASE("S-451 I-143 a pending ask is replaced in place, its age stays") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:5");
    const Instant created = c.now();
    c.advance(std::chrono::seconds(1)).ask("app", "k", "vcore:6", "prio=4 tags=creationTime:5,color:red group=g");
    const auto asks = c.app("app").asks;
    REQUIRE(asks.size() == 1);
    CHECK(asks[0].request_time == created);
    CHECK(asks[0].priority == 4);
    CHECK(asks[0].task_group == "g");
    CHECK(asks[0].resource == Map{{"vcore", 6}});
    CHECK(c.app("app").max_ask_priority == 4);
}

TEST_CASE("S-454 an existing allocation is taken as it is") {
    Cluster c{"[{name: a, maxapplications: 1, resources: {max: {vcore: 2m}}}]"};
    c.node("n", "vcore:4", "createdrain").application("first").application("second");
    c.existing("first", "k", "vcore:1", "n");
    c.notices();
    c.existing("second", "k", "vcore:9", "n");
    CHECK(c.notices() ==
          Lines{"application second is Accepted", "application second is Running", "allocated second/k on n"});
    CHECK(c.node_view("n").available == Map{{"vcore", -6}});
    CHECK(c.queue("root.a").allocated == Map{{"vcore", 10}});
    CHECK(c.queue("root.a").running_applications == 2);
}

TEST_CASE("S-455 the RM places a pending ask") {
    Cluster c;
    c.nodes(2, "vcore:10").application("app").ask("app", "k", "vcore:4");
    c.notices();
    c.existing("app", "k", "vcore:5", "n-1");
    CHECK(c.notices() == Lines{"application app is Running", "allocated app/k on n-1"});
    CHECK(c.app("app").pending_asks == 0);
    CHECK(c.app("app").allocated == Map{{"vcore", 5}});
    CHECK(c.cycles(1) == 0);
}

TEST_CASE("S-456 S-457 resizes") {
    Cluster c{"[{name: a, resources: {max: {vcore: 10m}}}]"};
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:4,gpu:0");
    c.node("g", "vcore:10,gpu:1");
    c.cycles(1);
    const std::string node = c.node_of("app", "k");
    c.notices();
    c.events();
    c.ask("app", "k", "vcore:4").ask("app", "k", "vcore:14");
    CHECK(c.queue("root.a").allocated.at("vcore") == 14); // may exceed the max
    CHECK(c.node_view(node).available.at("vcore") == -4);
    CHECK(c.app("app").max_used.at("vcore") == 14);
    c.ask("app", "k", "vcore:1");
    CHECK(c.node_view(node).available.at("vcore") == 9);
    CHECK(c.app("app").max_used.at("vcore") == 14);
    CHECK(c.notices() == Lines{});
    CHECK(c.events().empty());
}

TEST_CASE("S-110 create time: absent or not a number is now") {
    Cluster c;
    c.application("app").ask("app", "old", "vcore:1", "tags=creationTime:77").ask("app", "none", "vcore:1");
    c.ask("app", "odd", "vcore:1", "tags=creationTime:7x");
    for (const AskView& ask : c.app("app").asks)
        CHECK(ask.request_time == (ask.key == "old" ? Instant{77'000'000'000} : c.now()));
    CHECK(c.app("app").submitted == Instant{77'000'000'000}); // the oldest of its asks (S-103)
}

TEST_CASE("P section 5 no. 13: asks of applications that fail or have ended are refused with a reason") {
    Cluster c{"[{name: a}]"};
    c.nodes(1, "memory:9").application("done");
    c.ask("done", "k", "memory:1").cycles(1);
    c.release("done", "k").advance(std::chrono::minutes{1});
    REQUIRE(c.log_of("done") == "Accepted Running Completing Completed");
    c.notices();
    c.play("alloc ask app=done key=late res=memory:1");
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 1);
    CHECK(notices[0].find("failed to find application done") != std::string::npos);
}

// --- releases -------------------------------------------------------------------------------------------------------

TEST_CASE("S-470 unknown things are ignored") {
    Cluster c = running();
    for (const char* what :
         {"app=app key=nothing", "app=nobody key=app-0", "part=other app=app key=app-0", "key=foreign"})
        c.play(std::string("alloc release type=1 ") + what);
    for (const std::string& line : c.notices()) CHECK_THAT(line, Catch::StartsWith("ignored release of "));
    CHECK(c.allocations_of("app") == 2);
    CHECK(c.events().empty());
}

TEST_CASE("S-470 I-158 an empty key releases everything with one echo") {
    Cluster c = running();
    c.ask("app", "waits", "vcore:9");
    c.release("app", "");
    CHECK(c.notices() ==
          Lines{"application app is Completing", "released app/app-0: STOPPED_BY_RM, app/app-1: STOPPED_BY_RM"});
    CHECK(c.partition().allocations == 0);
    CHECK(c.partition().pending_asks == 0);
    CHECK(c.queue("root").allocated.empty());
}

TEST_CASE("S-471 the old list removes asks only") {
    Cluster c = running();
    c.ask("app", "x", "vcore:9").ask("app", "y", "vcore:9");
    c.play("alloc unask app=app key=app-0 | unask app=app key=x type=2");
    CHECK(c.app("app").pending_asks == 2);
    c.play("alloc unask app=app key=x");
    CHECK(c.app("app").pending_asks == 1);
    c.play("alloc unask app=app");
    CHECK(c.app("app").pending_asks == 0);
    CHECK(c.allocations_of("app") == 2);
    for (const std::string& line : c.notices()) CHECK_THAT(line, Catch::StartsWith("ignored release of "));
}

TEST_CASE("S-472 the echo by termination type") {
    const auto echo = [](int type) {
        Cluster c = running();
        c.release("app", "app-0", type);
        CHECK(c.allocations_of("app") == 1);
        const auto notices = c.notices();
        return notices.empty() ? std::string("none") : notices.at(0);
    };
    CHECK(echo(0) == "released app/app-0: STOPPED_BY_RM");
    CHECK(echo(1) == "released app/app-0: STOPPED_BY_RM");
    CHECK(echo(2) == "none");
    CHECK(echo(3) == "none");
}

TEST_CASE("S-472 a TIMEOUT release of a pending ask is ignored") {
    Cluster c;
    c.application("app").ask("app", "k", "vcore:1").release("app", "k", 2);
    CHECK(c.app("app").pending_asks == 1);
    c.release("app", "k", 3);
    CHECK(c.app("app").pending_asks == 0);
}

TEST_CASE("S-472 one echo per release entry") {
    Cluster c = running();
    c.play("alloc release app=app key=app-0 type=1 | release app=app key=app-1 type=1");
    CHECK(c.notices() == Lines{"released app/app-0: STOPPED_BY_RM", "application app is Completing",
                               "released app/app-1: STOPPED_BY_RM"});
}

TEST_CASE("S-458 S-474 a released key may be used again") {
    Cluster c = running();
    for (const int type : {1, 2, 3}) {
        c.release("app", "app-0", type).ask("app", "app-0", "vcore:2");
        CHECK(c.cycles(1) == 1);
    }
    c.play("nodes decommission id=" + c.node_of("app", "app-0"));
    CHECK(c.node_of("app", "app-0").empty());
    c.ask("app", "app-0", "vcore:2");
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("S-106 two applications may use the same key") {
    Cluster c;
    c.nodes(1, "vcore:10").application("x").application("y").ask("x", "k", "vcore:2").ask("y", "k", "vcore:3");
    CHECK(c.cycles(2) == 2);
    c.release("x", "k");
    CHECK(c.node_view("n-0").allocated == Map{{"vcore", 3}});
    CHECK(c.placed("y") == "k");
}

// --- foreign allocations --------------------------------------------------------------------------------------------

TEST_CASE("S-500 S-501 S-502 foreign allocations occupy their node") {
    Cluster c;
    c.nodes(2, "vcore:10");
    c.notices();
    const auto foreign = [&c](const std::string& node, int size) {
        c.play(fmt::format("alloc place key=f res=vcore:{} {} tags=foreign:static", size, node));
    };
    foreign("node=n-0", 4);
    CHECK(c.node_view("n-0").occupied == Map{{"vcore", 4}});
    foreign("node=n-0", 6);
    CHECK(c.node_view("n-0").available == Map{{"vcore", 4}});
    foreign("node=n-1", 6); // it moves
    CHECK(c.node_view("n-0").available == Map{{"vcore", 10}});
    CHECK(c.node_view("n-1").available == Map{{"vcore", 4}});
    CHECK(c.notices() == Lines{});
    CHECK(c.partition().allocations == 0);
    c.play("alloc release key=f");
    CHECK(c.node_view("n-1").available == Map{{"vcore", 10}});
    CHECK(c.notices() == Lines{});
    foreign("node=n-0", 0); // zero is accepted
    CHECK(c.notices() == Lines{});
    for (const char* node : {"", "node=nowhere"}) foreign(node, 1);
    foreign("node=n-0", -1);
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 3);
    CHECK(notices[0].find("foreign request") != std::string::npos);
    CHECK(notices[1].find("failed to find node nowhere") != std::string::npos);
    CHECK(notices[2].find("negative resources") != std::string::npos);
}

TEST_CASE("S-484 foreign allocations are forgotten with their node") {
    Cluster c;
    c.node("n", "vcore:10").play("alloc place key=f res=vcore:4 node=n tags=foreign:default");
    c.play("nodes decommission id=n");
    c.node("n", "vcore:10");
    CHECK(c.node_view("n").available == Map{{"vcore", 10}});
    c.play("alloc place key=f res=vcore:4 node=n tags=foreign:default");
    CHECK(c.node_view("n").available == Map{{"vcore", 6}});
}

} // namespace yk::testing
