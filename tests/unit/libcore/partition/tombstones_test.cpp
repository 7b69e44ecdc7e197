// SPDX-License-Identifier: Apache-2.0
// I-226: what is released before it arrives is released when it does.

#include "libcore/partition/restoration.h"

#include <catch2/catch.hpp>

#include "tests/unit/libcore/partition/restoration_story.h"

namespace yk::testing {

namespace {} // namespace

TEST_CASE("I-226 an allocation that was released before it arrives is announced and released at once") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app").ask("app", "waits", "vcore:1").notices();
    c.play("alloc release app=app key=k type=1 message=why");
    CHECK(c.notices() == Lines{});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=1 tombstones=1");
    c.existing("app", "k", "vcore:3", "n");
    const Lines lines = c.notices_in_full();
    REQUIRE(lines.size() == 3);
    CHECK_THAT(lines[0], Catch::StartsWith("application app is Running"));
    CHECK_THAT(lines[1], Catch::StartsWith("allocated app/k on n"));
    CHECK(lines[2] == "released app/k: STOPPED_BY_RM # [why]");
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=1");
    CHECK(c.available("n") == 10);
    c.existing("app", "k", "vcore:3", "n"); // sent again after that: it is there
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=1");
}

TEST_CASE("I-226 a release overtakes its allocation, whatever that waits for") {
    const std::string release = "alloc release app=app key=k type=1",
                      place = "alloc place app=app key=k res=vcore:3 node=n", node = "nodes create id=n res=vcore:10",
                      brings = node + " | existing app=app key=k res=vcore:3", app = "apps new id=app queue=root.a";
    const std::vector<Lines> orders{{release, app, node, place},
                                    {release, node, place, app},
                                    {release, app, place, node},
                                    {release, place, app, node},
                                    {node, release, place, app},
                                    {app, release, place, node},
                                    {app, place, release, node},
                                    {node, place, release, app},
                                    {place, release, node, app},
                                    {release, app, brings},
                                    {release, brings, app},
                                    {app, release, brings},
                                    {node + " | drain id=n", release, place, app}};
    for (const Lines& order : orders) {
        RecoveryStory c;
        for (const std::string& command : order) c.play(command);
        INFO(fmt::format("{}", fmt::join(order, "\n")));
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0");
        CHECK(c.available("n") == 10);
        CHECK(c.allocated("root") == 0);
        CHECK(c.core().holdings().of(Held::Asks) == 0);
        const std::string notices = fmt::format("{}", fmt::join(c.notices(), "\n"));
        CHECK_THAT(notices, Catch::Contains("released app/k: STOPPED_BY_RM")); // the echo
        for (const char* refusal : {"rejected", "ignored", "failed", ": P_"})
            CHECK_THAT(notices, !Catch::Contains(refusal));
    }
}

TEST_CASE("I-226 an ask that was released before it arrives is gone, by either kind of release") {
    for (const char* verb : {"unask", "release"}) {
        INFO(verb);
        RecoveryStory c;
        c.play(fmt::format("alloc {} app=app key=k type=1", verb));
        CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 tombstones=1");
        c.ask("app", "k", "vcore:1").ask("app", "l", "vcore:1");
        CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 tombstones=1");
        c.application("app");
        CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=1");
        c.play(fmt::format("alloc {} app=app key=m type=1", verb));
        c.ask("app", "m", "vcore:1");
        CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=1");
        CHECK(c.state_of("app") == "Accepted");
        for (const std::string& notice : c.notices())
            CHECK_THAT(notice, !Catch::StartsWith("released")); // no echo (I-155, I-161)
    }
}

TEST_CASE("I-226 I-155 a release of an ask leaves an allocation alone, before and after its arrival") {
    RecoveryStory before, after;
    for (RecoveryStory* c : {&before, &after}) c->node("n", "vcore:10").application("app");
    before.play("alloc unask app=app key=k type=1");
    CHECK(before.recovery() == "nodes=1 apps=1 allocations=0 asks=0 tombstones=1");
    before.existing("app", "k", "vcore:3", "n");
    after.existing("app", "k", "vcore:3", "n").notices();
    after.play("alloc unask app=app key=k type=1");
    CHECK(after.notices() ==
          Lines{"ignored release of app/k: P_UNKNOWN_ALLOCATION"}); // it arrived: there is nothing to wait for
    for (RecoveryStory* c : {&before, &after}) CHECK(c->recovery() == "nodes=1 apps=1 allocations=1 asks=0");
}

TEST_CASE("I-226 the type of a release counts when what it names arrives") {
    struct Row {
        int type;
        const char* more; // of the allocation
        Lines notices;
        const char* left;
    };
    const Lines running{"application app is Accepted", "application app is Running", "allocated app/k on n"};
    const Row rows[] = {
        {0,
         "",
         {"application app is Accepted", "application app is Running", "allocated app/k on n",
          "released app/k: STOPPED_BY_RM"},
         "allocations=0"},
        {2, "", running, "allocations=0"}, // no echo (I-157)
        {3, "", running, "allocations=0"},
        {4, "", running, "allocations=1"}, // no placeholder: it is not released (I-163)
        {4,
         "placeholder=1 group=g",
         {"application app is Accepted", "allocated placeholder app/k on n", "released app/k: STOPPED_BY_RM"},
         "allocations=0"}};
    for (const Row& row : rows) {
        INFO(row.type << " " << row.more);
        RecoveryStory c;
        c.node("n", "vcore:10").application("app").release("app", "k", row.type).notices();
        c.existing("app", "k", "vcore:3", "n", row.more);
        CHECK(c.notices() == row.notices);
        CHECK(c.recovery() == fmt::format("nodes=1 apps=1 {} asks=0", row.left));
    }
}

TEST_CASE("I-226 everything of an application that was released before the application arrives") {
    RecoveryStory c;
    c.play("alloc release app=app type=1"); // no key
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 tombstones=1");
    c.node("n", "vcore:10").existing("app", "k", "vcore:3", "n").ask("app", "l", "vcore:1").notices();
    c.application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted",
                               "application app is Running", "allocated app/k on n", "released app/k: STOPPED_BY_RM"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0");
    CHECK(c.available("n") == 10);
}

TEST_CASE("I-226 everything of an application that waits is released with it, in one echo") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app").existing("app", "here", "vcore:1", "n");
    c.existing("app", "a", "vcore:1", "later").existing("app", "zero", "vcore:0", "n").ask("app", "ask", "vcore:1");
    c.notices();
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=1 quarantined=[allocation app/a on later: NODE_UNKNOWN; "
                          "allocation app/zero on n: NO_RESOURCE]");
    SECTION("with its asks") {
        c.play("alloc release app=app type=1");
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0");
    }
    SECTION("but for its asks") {
        c.play("alloc release app=app type=1 keep=1");
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=1");
    }
    SECTION("only its asks") {
        c.play("alloc unask app=app type=1");
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0 quarantined=[allocation app/a on later: "
                              "NODE_UNKNOWN; allocation app/zero on n: NO_RESOURCE]");
    }
}

TEST_CASE("I-226 what waits for its node goes with everything of its application, in either order") {
    RecoveryStory before, after;
    before.play("alloc release app=app type=1");
    for (RecoveryStory* c : {&before, &after}) c->existing("app", "k", "vcore:1", "n").application("app");
    after.play("alloc release app=app type=1");
    for (RecoveryStory* c : {&before, &after}) {
        CHECK(c->recovery() == "nodes=0 apps=1 allocations=0 asks=0");
        c->node("n", "vcore:10");
        CHECK(c->available("n") == 10);
    }
}

TEST_CASE("I-226 an application that was removed before it arrives is accepted, and gone with all that it has") {
    RecoveryStory c;
    c.node("n", "vcore:10").remove("app").notices();
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 tombstones=1");
    c.existing("app", "k", "vcore:3", "n").ask("app", "l", "vcore:1");
    CHECK(c.occupied("n") == 3);
    c.application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted",
                               "application app is Running", "allocated app/k on n", "released app/k: STOPPED_BY_RM"});
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0");
    CHECK(c.available("n") == 10);
    CHECK(c.state_of("app") == "gone");
    c.application("app"); // the next one of that name is another one
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0");
}

TEST_CASE("I-226 what waits for its node goes with its application, in either order") {
    const std::string remove = "apps remove id=app", app = "apps new id=app queue=root.a",
                      place = "alloc place app=app key=k res=vcore:3 node=n", node = "nodes create id=n res=vcore:10";
    for (const Lines& order :
         {Lines{remove, place, app, node}, Lines{place, remove, app, node}, Lines{app, place, remove, node},
          Lines{place, app, remove, node}, Lines{place, app + " | remove id=app", node}}) {
        RecoveryStory c;
        for (const std::string& command : order) c.play(command);
        INFO(fmt::format("{}", fmt::join(order, "\n")));
        CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0");
        CHECK(c.available("n") == 10);
    }
}

TEST_CASE("I-226 the removal of an application that waits in quarantine takes it with its allocations") {
    RecoveryStory c;
    c.node("n", "vcore:10")
        .application("app", "root.late")
        .existing("app", "k", "vcore:3", "n")
        .ask("app", "l", "vcore:1");
    c.remove("app");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0");
    CHECK(c.available("n") == 10);
    CHECK(c.core().holdings().of(Held::Asks) == 0);
}

TEST_CASE("I-226 I-242 what arrives after its application or node was removed waits, until a release names it") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app").remove("app").existing("app", "k", "vcore:3", "n");
    c.node("m", "vcore:10").play("nodes decommission id=m");
    c.application("other").existing("other", "l", "vcore:3", "m").notices();
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN; "
                          "allocation other/l on m: NODE_UNKNOWN]");
    c.release("app", "k").release("other", "l");
    CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM", "released other/l: STOPPED_BY_RM"});
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0");
}

TEST_CASE("I-226 a node that was decommissioned before it arrives is accepted, and gone with all that it has") {
    RecoveryStory c;
    c.application("app").play("nodes decommission id=n");
    CHECK(c.notices() == Lines{"accepted application app in root.a"}); // nothing failed
    CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0 tombstones=1");
    c.existing("app", "waits", "vcore:1", "n").existing("later", "l", "vcore:1", "n");
    c.play("nodes create id=n res=vcore:10 | existing app=app key=k res=vcore:2");
    CHECK(c.notices() == Lines{"accepted node n", "application app is Accepted", "application app is Running",
                               "allocated app/k on n", "allocated app/waits on n",
                               "released app/k: STOPPED_BY_RM, app/waits: STOPPED_BY_RM",
                               "released later/l: STOPPED_BY_RM"});
    CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0");
    CHECK(c.partition().capacity.empty());
    c.node("n", "vcore:10"); // the next one is another one
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0");
    CHECK(c.available("n") == 10);
}

TEST_CASE("I-226 a node that is removed takes what waits in quarantine with it") {
    RecoveryStory c;
    c.node("n", "vcore:10")
        .application("app")
        .existing("app", "k", "vcore:1", "n")
        .existing("later", "l", "vcore:1", "n");
    c.play("alloc place key=f res=vcore:1 node=n tags=foreign:default");
    c.notices();
    c.play("nodes decommission id=n");
    CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM", "released later/l: STOPPED_BY_RM"});
    CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0");
    CHECK(c.core().holdings().of(Held::Asks) == 0);
    c.application("later");
    CHECK(c.recovery() == "nodes=0 apps=2 allocations=0 asks=0");
}

TEST_CASE("I-172 I-177 a node that comes and goes in one request leaves nothing behind") {
    RecoveryStory c;
    c.application("app").notices();
    c.play("nodes create id=n res=vcore:10 | existing app=app key=k res=vcore:2 | decommission id=n");
    CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=0");
}

TEST_CASE("I-226 a foreign allocation that was released before it arrives") {
    RecoveryStory c;
    c.node("n", "vcore:10").play("alloc release key=f");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 tombstones=1");
    c.play("alloc place key=f res=vcore:3 node=n tags=foreign:default");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0");
    CHECK(c.occupied("n") == 0);
    CHECK(c.notices() == Lines{"accepted node n"});
}

TEST_CASE("I-226 what was released and never arrived is forgotten with the report, and at the end") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app").release("app", "k").release("nobody", "k").remove("other");
    c.play("alloc release app=later type=1");
    c.play("nodes decommission id=m");
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0 tombstones=5");
    c.forget_tombstones();
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0");
    c.existing("app", "k", "vcore:1", "n").application("other").node("m", "vcore:1");
    CHECK(c.recovery() == "nodes=2 apps=2 allocations=1 asks=0");
    c.release("app", "late").end_recovery().existing("app", "late", "vcore:1", "n");
    CHECK(c.recovery() == "nodes=2 apps=2 allocations=2 asks=0");
}

TEST_CASE("I-226 A10 releases are remembered until the names that the RM may hold are used up") {
    Settings settings = Cluster::manual_settings();
    settings.budget.names = 1000;
    RecoveryStory c{"[{name: a}]", settings};
    const std::string text(500, 'x');
    c.play("alloc release app=app key=a type=1 message=" + text);
    c.play("alloc release app=app key=a type=1 message=" + text); // the same again, in its place
    c.play("alloc release app=app key=b type=1 message=" + text);
    c.notices();
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 tombstones=2");
    c.play("alloc release app=app key=c type=1 message=" + text);
    c.play("nodes decommission id=" + text);
    c.remove(text);
    CHECK(c.notices() == Lines{"ignored release of app/c: P_NO_CAPACITY",
                               "failed to DECOMISSION node " + text + ": P_NO_CAPACITY",
                               "ignored release of " + text + "/: P_NO_CAPACITY"});
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 tombstones=2");
    c.forget_tombstones().play("alloc release app=app key=c type=1 message=" + text);
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0 tombstones=1");
}

TEST_CASE("I-226 outside a recovery nothing is remembered, also while something waits in quarantine") {
    RecoveryStory c;
    c.node("n", "vcore:10").existing("app", "k", "vcore:1", "n").end_recovery().notices();
    c.release("app", "l").remove("app-2").play("nodes decommission id=m");
    CHECK(c.notices() ==
          Lines{"ignored release of app/l: P_APP_UNKNOWN", "failed to DECOMISSION node m: P_NODE_UNKNOWN"});
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN]");
}

} // namespace yk::testing
