// SPDX-License-Identifier: Apache-2.0
// interface.md 3.5: what waits in quarantine during a recovery, and what heals it. What is restored, and how the
// recovery ends: restored_test.cpp; releases of what did not arrive yet: tombstones_test.cpp.

#include "libcore/partition/restoration.h"

#include <catch2/catch.hpp>

#include "tests/unit/libcore/partition/restoration_story.h"

namespace yk::testing {

// --- the rows of I-242 ----------------------------------------------------------------------------------------------

TEST_CASE("I-242 I-243 I-244 an allocation whose application comes later waits in quarantine and occupies its node") {
    RecoveryStory c;
    c.node("n", "vcore:10");
    CHECK(c.notices() == Lines{"accepted node n"});
    c.existing("app", "k", "vcore:3", "n");
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN]");
    CHECK(c.occupied("n") == 3);
    CHECK(c.available("n") == 7);
    CHECK(c.allocated("root") == 0);
    CHECK(c.partition().allocations == 0);
    c.application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted",
                               "application app is Running", "allocated app/k on n"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
    CHECK(c.occupied("n") == 0);
    CHECK(c.available("n") == 7);
    CHECK(c.allocated("root.a") == 3);
}

TEST_CASE("I-242 I-244 an allocation whose node comes later waits in quarantine and counts nowhere") {
    RecoveryStory c;
    c.application("app").existing("app", "k", "vcore:3", "n");
    CHECK(c.notices() == Lines{"accepted application app in root.a"});
    CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0 quarantined=[allocation app/k on n: NODE_UNKNOWN]");
    CHECK(c.allocated("root") == 0);
    CHECK(c.state_of("app") == "New");
    c.node("n", "vcore:10");
    CHECK(c.notices() == Lines{"accepted node n", "application app is Accepted", "application app is Running",
                               "allocated app/k on n"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
    CHECK(c.occupied("n") == 0);
    CHECK(c.available("n") == 7);
}

TEST_CASE("I-242 I-244 an allocation that waits for both is restored when the second comes, whichever that is") {
    RecoveryStory node_first, application_first;
    node_first.existing("app", "k", "vcore:3", "n");
    CHECK(node_first.recovery() ==
          "nodes=0 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN]");
    node_first.node("n", "vcore:10");
    CHECK(node_first.recovery() ==
          "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN]");
    CHECK(node_first.occupied("n") == 3); // as soon as the node is there
    node_first.application("app");
    application_first.existing("app", "k", "vcore:3", "n").application("app");
    CHECK(application_first.recovery() ==
          "nodes=0 apps=1 allocations=0 asks=0 quarantined=[allocation app/k on n: NODE_UNKNOWN]");
    application_first.node("n", "vcore:10");
    for (RecoveryStory* c : {&node_first, &application_first}) {
        CHECK(c->recovery() == "nodes=1 apps=1 allocations=1 asks=0");
        CHECK(c->available("n") == 7);
        CHECK(c->occupied("n") == 0);
    }
    CHECK(node_first.notices() == Lines{"accepted node n", "accepted application app in root.a",
                                        "application app is Accepted", "application app is Running",
                                        "allocated app/k on n"});
    CHECK(application_first.notices() == Lines{"accepted application app in root.a", "accepted node n",
                                               "application app is Accepted", "application app is Running",
                                               "allocated app/k on n"});
}

TEST_CASE(
    "I-242 I-223 the allocations of a refused application occupy their nodes until it is sent again and accepted") {
    RecoveryStory c;
    c.node("n", "vcore:10").notices();
    c.play("apps new id=app queue=root.a fault=nobody");
    CHECK(c.notices() == Lines{"rejected application app: P_USER"});
    c.existing("app", "k", "vcore:3", "n");
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_REJECTED]");
    CHECK(c.occupied("n") == 3);
    c.application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted",
                               "application app is Running", "allocated app/k on n"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
}

TEST_CASE("I-242 I-244 an application that no queue takes is restored with another configuration, without being sent") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app", "root.late").notices();
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[application app: QUEUE_INVALID]");
    CHECK(c.state_of("app") == "gone"); // nor is it among the rejected ones
    c.existing("app", "k", "vcore:3", "n").ask("app", "waits", "vcore:1");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[application app: QUEUE_INVALID; allocation "
                          "app/k on n: APP_REJECTED]");
    CHECK(c.occupied("n") == 3);
    REQUIRE(c.configure("[{name: a}]", "properties: {x: y}") == "ok"); // no help
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[application app: QUEUE_INVALID; allocation "
                          "app/k on n: APP_REJECTED]");
    REQUIRE(c.configure("[{name: a}, {name: late}]") == "ok");
    CHECK(c.notices() == Lines{"accepted application app in root.late", "application app is Accepted",
                               "application app is Running", "allocated app/k on n"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=1");
}

TEST_CASE("I-242 an application that no queue takes may also be sent again for another queue") {
    RecoveryStory c;
    c.application("app", "root.late").application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a"});
    CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0");
}

TEST_CASE(
    "I-242 I-222 an application in quarantine is taken once its queue is there, also where its gang does not fit") {
    RecoveryStory c;
    c.play("apps new id=app queue=root.late gang=vcore:8");
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 quarantined=[application app: QUEUE_INVALID]");
    REQUIRE(c.configure("[{name: a}, {name: late, resources: {max: {vcore: 2m}}}]") == "ok");
    CHECK(c.notices() == Lines{"accepted application app in root.late"});
    CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0");
}

TEST_CASE("I-242 an allocation of no or of negative amounts counts nowhere until it is sent correctly") {
    struct Row {
        const char* size;
        const char* reason;
    };
    for (const Row& row : {Row{"vcore:0", "NO_RESOURCE"}, Row{"vcore:-2", "NEGATIVE"}}) {
        INFO(row.size);
        RecoveryStory c;
        c.node("n", "vcore:10").application("app").notices();
        c.existing("app", "k", row.size, "n");
        CHECK(c.notices() == Lines{});
        CHECK(c.recovery() ==
              fmt::format("nodes=1 apps=1 allocations=0 asks=0 quarantined=[allocation app/k on n: {}]", row.reason));
        CHECK(c.available("n") == 10);
        CHECK(c.state_of("app") == "New");
        c.existing("app", "k", "vcore:2", "n");
        CHECK(c.notices() ==
              Lines{"application app is Accepted", "application app is Running", "allocated app/k on n"});
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
        CHECK(c.available("n") == 8);
    }
}

TEST_CASE("I-242 I-243 negative amounts make no capacity, whatever else the allocation waits for") {
    RecoveryStory c;
    c.node("n", "vcore:10").existing("app", "k", "vcore:-5", "n");
    CHECK(c.occupied("n") == 0);
    CHECK(c.available("n") == 10);
    c.application("app").existing("app", "p", "vcore:-5", "n", "placeholder=1");
    CHECK(c.available("n") == 10);
    CHECK(c.notices() == Lines{"accepted node n", "accepted application app in root.a"});
}

TEST_CASE(
    "I-242 a node with negative amounts is not there until it is sent correctly, and what it brings waits for it") {
    RecoveryStory c;
    c.application("app").notices();
    c.play("nodes create id=n res=vcore:-1 | existing app=app key=k res=vcore:3");
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() ==
          "nodes=0 apps=1 allocations=0 asks=0 quarantined=[node n: NEGATIVE; allocation app/k on n: NODE_UNKNOWN]");
    CHECK(c.partition().capacity.empty());
    c.node("n", "vcore:10");
    CHECK(c.notices() == Lines{"accepted node n", "application app is Accepted", "application app is Running",
                               "allocated app/k on n"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
}

TEST_CASE("I-242 a node that is sent with other content waits, the first one stays; what it brings is restored") {
    const char* const other[] = {"create id=n res=vcore:9", "create id=n res=vcore:10 occ=vcore:1",
                                 "create id=n res=vcore:10,gpu:1"};
    for (const std::string node : other) {
        INFO(node);
        RecoveryStory c;
        c.application("app").node("n", "vcore:10").notices();
        c.play("nodes " + node + " | existing app=app key=k res=vcore:3");
        CHECK(c.notices() ==
              Lines{"application app is Accepted", "application app is Running", "allocated app/k on n"});
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0 quarantined=[node n: DUPLICATE_NODE]");
        CHECK(c.node_view("n").capacity == Map{{"vcore", 10}});
        c.node("n", "vcore:10"); // equal
        CHECK(c.notices() == Lines{"accepted node n"});
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
        c.play("nodes " + node);
        c.play("nodes decommission id=n");
        CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM"});
        CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0");
    }
}

TEST_CASE("I-242 an allocation that is reported on a second node occupies both") {
    RecoveryStory c;
    c.node("n", "vcore:10").node("m", "vcore:10").application("app").existing("app", "k", "vcore:3", "n");
    c.notices();
    c.existing("app", "k", "vcore:3", "m");
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() == "nodes=2 apps=1 allocations=1 asks=0 quarantined=[allocation app/k on m: PLACED_TWICE]");
    CHECK(c.available("n") == 7);
    CHECK(c.occupied("m") == 3);
    CHECK(c.allocated("root.a") == 3); // once
    SECTION("until a release names it, and it is sent again") {
        c.release("app", "k");
        CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM"}); // one echo: the RM knows one allocation
        CHECK(c.recovery() == "nodes=2 apps=1 allocations=0 asks=0");
        CHECK(c.occupied("m") == 0);
        c.existing("app", "k", "vcore:3", "m");
        CHECK(c.notices() == Lines{"allocated app/k on m"});
        CHECK(c.recovery() == "nodes=2 apps=1 allocations=1 asks=0");
    }
    SECTION("or it is sent once more on the first one") {
        c.existing("app", "k", "vcore:3", "n");
        CHECK(c.notices() == Lines{});
        CHECK(c.recovery() == "nodes=2 apps=1 allocations=1 asks=0");
        CHECK(c.occupied("m") == 0);
    }
    SECTION("or the second node is removed") {
        c.play("nodes decommission id=m");
        CHECK(c.notices() == Lines{}); // it was not announced there
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
    }
}

TEST_CASE("I-220 I-242 I-243 an allocation reported on two nodes occupies both, whatever comes after it") {
    RecoveryStory c;
    c.node("n", "vcore:10").node("m", "vcore:10").node("o", "vcore:10").notices();
    c.existing("app", "k", "vcore:3", "n").existing("app", "k", "vcore:3", "m");
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() == "nodes=3 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN; "
                          "allocation app/k on m: PLACED_TWICE]");
    CHECK(c.occupied("n") == 3);
    CHECK(c.occupied("m") == 3);
    SECTION("its application: it is restored on the first") {
        c.application("app");
        CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted",
                                   "application app is Running", "allocated app/k on n"});
        CHECK(c.recovery() == "nodes=3 apps=1 allocations=1 asks=0 quarantined=[allocation app/k on m: PLACED_TWICE]");
        CHECK(c.available("n") == 7);
        CHECK(c.occupied("m") == 3);
        c.release("app", "k");
        CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM"});
        CHECK(c.recovery() == "nodes=3 apps=1 allocations=0 asks=0");
        CHECK(c.available("n") == 10);
        CHECK(c.occupied("m") == 0);
    }
    SECTION("a report on a third") {
        c.existing("app", "k", "vcore:3", "o").existing("app", "k", "vcore:3", "m").application("app");
        CHECK(c.recovery() == "nodes=3 apps=1 allocations=1 asks=0 quarantined=[allocation app/k on o: PLACED_TWICE; "
                              "allocation app/k on m: PLACED_TWICE]");
        CHECK(c.occupied("o") == 3);
        CHECK(c.occupied("m") == 3);
    }
    SECTION("once more the first") {
        c.existing("app", "k", "vcore:3", "n").application("app");
        CHECK(c.recovery() == "nodes=3 apps=1 allocations=1 asks=0");
        CHECK(c.occupied("m") == 0);
    }
    SECTION("a release, which takes both") {
        c.release("app", "k");
        CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM"});
        CHECK(c.recovery() == "nodes=3 apps=0 allocations=0 asks=0");
        CHECK(c.occupied("n") == 0);
        CHECK(c.occupied("m") == 0);
    }
    SECTION("the end of the first node: it runs on the second") {
        c.play("nodes decommission id=n");
        CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM"});
        c.application("app");
        CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted",
                                   "application app is Running", "allocated app/k on m"});
        CHECK(c.recovery() == "nodes=2 apps=1 allocations=1 asks=0");
    }
    SECTION("an ask of that name, which changes nothing") {
        c.ask("app", "k", "vcore:3");
        CHECK(c.recovery() == "nodes=3 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN; "
                              "allocation app/k on m: PLACED_TWICE]");
    }
}

TEST_CASE("I-220 I-242 an allocation reported on a node that is not there, and then on another, is on two") {
    RecoveryStory c;
    c.node("m", "vcore:10").application("app").notices();
    c.existing("app", "k", "vcore:3", "n").existing("app", "k", "vcore:3", "m");
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0 quarantined=[allocation app/k on n: NODE_UNKNOWN; "
                          "allocation app/k on m: PLACED_TWICE]");
    CHECK(c.occupied("m") == 3);
    c.node("n", "vcore:10");
    CHECK(c.recovery() == "nodes=2 apps=1 allocations=1 asks=0 quarantined=[allocation app/k on m: PLACED_TWICE]");
}

TEST_CASE("I-226 I-242 a release that came before two reports of its allocation takes both") {
    RecoveryStory c;
    c.node("n", "vcore:10").node("m", "vcore:10").notices();
    c.release("app", "k");
    c.existing("app", "k", "vcore:3", "n").existing("app", "k", "vcore:3", "m").application("app");
    CHECK(c.recovery() == "nodes=2 apps=1 allocations=0 asks=0");
    CHECK(c.occupied("m") == 0);
    CHECK(c.available("n") == 10);
}

TEST_CASE("I-242 a placeholder without task group occupies its node until it is sent with one") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app").notices();
    c.existing("app", "k", "vcore:3", "n", "placeholder=1");
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() ==
          "nodes=1 apps=1 allocations=0 asks=0 quarantined=[allocation app/k on n: PLACEHOLDER_NO_GROUP]");
    CHECK(c.occupied("n") == 3);
    CHECK(c.allocated("root") == 0);
    c.existing("app", "k", "vcore:3", "n", "placeholder=1 group=g");
    CHECK(c.notices() == Lines{"application app is Accepted", "allocated placeholder app/k on n"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
    CHECK(c.occupied("n") == 0);
    CHECK(c.available("n") == 7);
}

TEST_CASE("I-242 what no row of the table names is rejected as ever, and so are asks that can never be right") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app").notices();
    c.play("alloc place app=app key=k res=vcore:1 node=n max=2 | place app=app key=l res=vcore:1 node=n");
    CHECK(c.notices() == Lines{"application app is Accepted", "application app is Running", "allocated app/l on n",
                               "rejected allocation app/k: P_REPEAT"});
    c.play("alloc ask app=app key=m res=vcore:0 | ask app=app key=o res=vcore:-1 | ask app=app key=p res=vcore:1");
    CHECK(c.notices() == Lines{"rejected ask app/m: P_NO_RESOURCE, rejected ask app/o: P_NEGATIVE"});
    c.play("apps new id=g queue=root.a gang=vcore:1 fault=nobody | new id=h queue=root.a");
    CHECK(c.notices() == Lines{"accepted application h in root.a, rejected application g: P_USER"});
    CHECK(c.recovery() == "nodes=1 apps=2 allocations=1 asks=1");
}

TEST_CASE("I-242 what waits for an application says so when that came and was refused") {
    RecoveryStory c;
    c.node("n", "vcore:10").existing("app", "k", "vcore:3", "n");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN]");
    c.play("apps new id=app queue=root.a fault=nobody");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_REJECTED]");
    c.existing("late", "k", "vcore:3", "n").application("late", "root.late");
    CHECK(
        c.recovery() ==
        "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_REJECTED; allocation late/k on n: "
        "APP_REJECTED; application late: QUEUE_INVALID]");
    c.application("app");
    CHECK(c.recovery() ==
          "nodes=1 apps=1 allocations=1 asks=0 quarantined=[allocation late/k on n: APP_REJECTED; application late: "
          "QUEUE_INVALID]");
}

// --- several at once ------------------------------------------------------------------------------------------------

TEST_CASE("I-242 the allocations that a node brings are restored each for itself, after the node was accepted") {
    RecoveryStory c;
    c.application("app").notices();
    c.play(
        "nodes create id=n res=vcore:10 | existing app=app key=a res=vcore:1 | existing app=later key=b res=vcore:2 | "
        "existing app=app key=c res=vcore:0 | existing app=app key=d res=vcore:1 max=2 | "
        "existing key=f res=vcore:3 tags=foreign:default | existing app=app key=e res=vcore:1");
    CHECK(c.notices() == Lines{"accepted node n", "application app is Accepted", "application app is Running",
                               "allocated app/a on n", "allocated app/e on n", "rejected allocation app/d: P_REPEAT"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=3 asks=0 quarantined=[allocation later/b on n: APP_UNKNOWN; "
                          "allocation app/c on n: NO_RESOURCE]");
    CHECK(c.occupied("n") == 5);
    CHECK(c.available("n") == 3);
    c.application("later");
    CHECK(c.notices() == Lines{"accepted application later in root.a", "application later is Accepted",
                               "application later is Running", "allocated later/b on n"});
    CHECK(c.occupied("n") == 3);
    CHECK(c.available("n") == 3);
}

TEST_CASE("I-244 I-227 what waits is retried in the order of its arrival, after all of the request was accepted") {
    RecoveryStory c;
    for (const char* key : {"z", "m", "a"}) c.existing("one", key, "vcore:1", "n").existing("two", key, "vcore:1", "n");
    c.node("n", "vcore:10").notices();
    c.existing("two", "z", "vcore:2", "n"); // sent again: it comes last now
    c.play("apps new id=two queue=root.a | new id=one queue=root.a");
    CHECK(c.notices() == Lines{"accepted application two in root.a, accepted application one in root.a",
                               "application one is Accepted", "application one is Running", "allocated one/z on n",
                               "allocated one/m on n", "application two is Accepted", "application two is Running",
                               "allocated two/m on n", "allocated one/a on n", "allocated two/a on n",
                               "allocated two/z on n"});
    CHECK(c.recovery() == "nodes=1 apps=2 allocations=6 asks=0");
    CHECK(c.available("n") == 3);
}

TEST_CASE("I-220 equal re-sends are accepted and change nothing") {
    RecoveryStory c;
    for (int times = 0; times < 2; ++times) {
        c.play("nodes create id=n res=vcore:10,zero:0 occ=vcore:1 | existing app=app key=k res=vcore:2");
        c.application("app").ask("app", "waits", "vcore:1").existing("app", "l", "vcore:1", "n");
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=2 asks=1");
        CHECK(c.available("n") == 6);
        Lines expected{"accepted node n", "accepted application app in root.a"};
        if (times == 0)
            for (const char* line : {"application app is Accepted", "application app is Running",
                                     "allocated app/k on n", "allocated app/l on n"})
                expected.emplace_back(line);
        CHECK(c.notices() == expected);
    }
}

TEST_CASE("I-222 what is restored is counted in full, whatever the limits are") {
    RecoveryStory c{"[{name: a, maxapplications: 1, resources: {max: {vcore: 2}}, limits: [{limit: x, users: ['*'], "
                    "maxapplications: 1, maxresources: {vcore: 1}}]}]"};
    c.node("n", "vcore:3").application("one").application("two");
    c.existing("one", "k", "vcore:4", "n").existing("two", "k", "vcore:5", "n");
    CHECK(c.recovery() == "nodes=1 apps=2 allocations=2 asks=0");
    CHECK(c.available("n") == -6);
    CHECK(c.allocated("root.a") == 9);
    CHECK(c.state_of("one") == "Running");
    CHECK(c.state_of("two") == "Running");
}

TEST_CASE("I-226 asks stay pending; those that come before their application wait for it and are no object") {
    RecoveryStory c;
    c.node("n", "vcore:10").notices();
    c.ask("app", "k", "vcore:2").ask("app", "l", "vcore:2");
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0");
    CHECK(c.occupied("n") == 0);
    c.application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=2");
    c.ask("nobody", "m", "vcore:1").end_recovery();
    CHECK(c.notices() == Lines{"rejected ask nobody/m: P_APP_UNKNOWN"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=2");
    CHECK(c.cycles(3) == 2);
}

TEST_CASE("I-146 I-220 an ask and an allocation of one key end as the allocation, whatever they wait for") {
    const char* const ask = "alloc ask app=app key=k res=vcore:3";
    const char* const place = "alloc place app=app key=k res=vcore:3 node=n";
    const std::vector<Lines> orders{
        {"apps new id=app queue=root.a", "nodes create id=n res=vcore:10", ask, place},
        {"apps new id=app queue=root.a", "nodes create id=n res=vcore:10", place, ask},
        {ask, place, "apps new id=app queue=root.a", "nodes create id=n res=vcore:10"},
        {ask, "nodes create id=n res=vcore:10", place, "apps new id=app queue=root.a"},
        {"nodes create id=n res=vcore:10", place, ask, "apps new id=app queue=root.a"},
        {"apps new id=app queue=root.a", place, ask, "nodes create id=n res=vcore:10"},
    };
    for (const Lines& order : orders) {
        RecoveryStory c;
        for (const std::string& command : order) c.play(command);
        INFO(fmt::format("{}", fmt::join(order, "\n")));
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
        CHECK(c.available("n") == 7);
    }
}

TEST_CASE("I-149 I-242 foreign allocations wait for their node, too") {
    RecoveryStory c;
    c.play("alloc place key=f res=vcore:3 node=n tags=foreign:default");
    c.play("alloc place key=g res=vcore:1 node=n tags=foreign:static");
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 quarantined=[allocation /f on n: NODE_UNKNOWN; "
                          "allocation /g on n: NODE_UNKNOWN]");
    c.play("alloc release key=g");
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 quarantined=[allocation /f on n: NODE_UNKNOWN]");
    c.node("n", "vcore:10");
    CHECK(c.notices() == Lines{"accepted node n"}); // no `new`, no echo
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=1 asks=0");
    CHECK(c.occupied("n") == 3);
    c.play("alloc place key=f res=vcore:-3 node=n tags=foreign:default");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=1 asks=0 quarantined=[allocation /f on n: NEGATIVE]");
    CHECK(c.occupied("n") == 3);
}

TEST_CASE("I-149 I-233 a foreign allocation belongs to no application, whatever it names") {
    RecoveryStory c;
    c.play("alloc place app=app key=f res=vcore:3 node=n tags=foreign:default");
    CHECK(c.core().recovery().view().quarantined[2].sum() == recovery::line_hash("L\tdefault\t\tf\tn\tvcore=3\t0\n"));
    c.play("alloc release key=f");
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0");
}

TEST_CASE("I-129 each partition has its own quarantine; one that is made meanwhile recovers with the others") {
    const std::string queues = "queues: [{name: root, submitacl: '*', queues: [{name: a}]}]";
    RecoveryStory c;
    REQUIRE(c.play(fmt::format("config partitions: [{{name: default, {}}}, {{name: gpu, {}}}]", queues, queues)) ==
            "ok");
    c.play("nodes create id=n part=gpu res=vcore:10");
    c.play("alloc place part=gpu app=app key=k res=vcore:3 node=n");
    c.application("app"); // in the other one
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0 quarantined=[allocation gpu:app/k on n: APP_UNKNOWN]");
    c.play("apps new id=app part=gpu queue=root.a");
    CHECK(c.recovery() == "nodes=1 apps=2 allocations=1 asks=0");
    c.play("alloc place part=gpu app=other key=k res=vcore:3 node=n");
    CHECK(c.core().holdings().of(Held::Asks) == 2);
    REQUIRE(c.play(fmt::format("config partitions: [{{name: default, {}}}]", queues)) == "ok");
    CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0");
    CHECK(c.core().holdings().of(Held::Asks) == 0);
}

} // namespace yk::testing
