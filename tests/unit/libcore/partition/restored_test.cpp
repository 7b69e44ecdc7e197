// SPDX-License-Identifier: Apache-2.0
// interface.md 3.3: what becomes of that which an RM replays: applications and their states, events, counters, the
// budget, what is booked on nodes; and the end of a recovery that leaves something in quarantine (I-254).

#include "libcore/partition/restoration.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/libcore/partition/restoration_story.h"

namespace yk::testing {

namespace {} // namespace

// --- applications ---------------------------------------------------------------------------------------------------

TEST_CASE("I-223 with force an application that no rule places goes to the recovery queue") {
    RecoveryStory c{"[{name: a, submitacl: ' '}, {name: p, parent: true}]", Cluster::manual_settings(), true};
    c.node("n", "vcore:10").existing("app", "k", "vcore:3", "n").notices();
    c.application("app", "root.late");
    CHECK(c.notices() == Lines{"accepted application app in root.@recovery@", "application app is Accepted",
                               "application app is Running", "allocated app/k on n"});
    c.application("parent", "root.p");
    CHECK(c.notices() == Lines{"accepted application parent in root.@recovery@"});
    const Lines events = c.events();
    CHECK(std::count(events.begin(), events.end(), "APP parent ADD APP_NEW") == 1);
    CHECK(c.recovery() == "nodes=1 apps=2 allocations=1 asks=0");
    CHECK(c.allocated("root.@recovery@") == 3);
}

TEST_CASE("I-223 C-340 with force an application still goes where the rules place it, root.default included") {
    RecoveryStory c{"[{name: a}, {name: default}]", Cluster::manual_settings(), true};
    c.application("app").application("elsewhere", "root.late");
    CHECK(c.notices() == Lines{"accepted application app in root.a", "accepted application elsewhere in root.default"});
}

TEST_CASE("I-224 what an application has decides on its state") {
    struct Row {
        const char* application;
        Lines objects;
        const char* state;
    };
    const std::string placeholder = "place app=app node=n placeholder=1 group=g res=vcore:1 ";
    const std::string real = "place app=app node=n res=vcore:1 ", ask = "ask app=app res=vcore:1 ";
    const Row rows[] = {
        {"", {}, "New"},
        {"", {ask + "key=a"}, "Accepted"},
        {"", {real + "key=a"}, "Running"},
        {"", {ask + "key=a", real + "key=b"}, "Running"},
        {"gang=vcore:2", {}, "New"},
        {"gang=vcore:2", {placeholder + "key=a"}, "Accepted"},
        {"gang=vcore:2", {placeholder + "key=a", ask + "key=b placeholder=1 group=g"}, "Accepted"},
        {"gang=vcore:2", {placeholder + "key=a", placeholder + "key=b"}, "Running"},
        {"gang=vcore:2", {placeholder + "key=a", real + "key=b group=g"}, "Running"},
    };
    for (const Row& row : rows) {
        INFO(row.application << ": " << fmt::format("{}", fmt::join(row.objects, " | ")));
        RecoveryStory early, late; // the application comes first, or last
        early.node("n", "vcore:10").play(fmt::format("apps new id=app queue=root.a {}", row.application));
        late.node("n", "vcore:10");
        for (RecoveryStory* c : {&early, &late})
            for (const std::string& object : row.objects) c->play("alloc " + object);
        late.play(fmt::format("apps new id=app queue=root.a {}", row.application));
        for (RecoveryStory* c : {&early, &late}) {
            CHECK(c->state_of("app") == row.state);
            c->end_recovery();
            CHECK(c->state_of("app") == row.state);
        }
    }
}

TEST_CASE(
    "I-224 an application that has only asks when the recovery ends is Accepted; one that lost all completes then") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("asks").application("lost").application("empty");
    c.ask("asks", "a", "vcore:1").release("asks", "a").ask("asks", "b", "vcore:1");
    c.existing("lost", "k", "vcore:1", "n").release("lost", "k");
    CHECK(c.state_of("lost") == "Running"); // the rest of it may still come
    c.end_recovery();
    CHECK(c.state_of("asks") == "Accepted");
    CHECK(c.state_of("lost") == "Completing");
    CHECK(c.state_of("empty") == "New");
}

TEST_CASE("I-224 I-254 an application that was completing before goes on doing so when a recovery ends") {
    Cluster c;
    c.node("n", "vcore:10").application("app").existing("app", "k", "vcore:1", "n").release("app", "k");
    REQUIRE(c.state_of("app") == "Completing");
    c.begin_recovery().end_recovery(); // tried again after the consistency was lost
    CHECK(c.state_of("app") == "Completing");
    c.advance(std::chrono::seconds{29});
    CHECK(c.state_of("app") == "Completing");
    c.advance(std::chrono::seconds{1});
    CHECK(c.state_of("app") == "Completed");
}

TEST_CASE("I-224 the placeholder timeout counts from the creation of the application and fires after the recovery") {
    RecoveryStory c;
    c.node("n", "vcore:10");
    c.play(fmt::format("apps new id=old queue=root.a gang=vcore:2 timeout=60000 "
                       "tags=yunikorn.apache.org/creationTime:{}",
                       c.seconds() - 3600));
    c.play(fmt::format("apps new id=young queue=root.a gang=vcore:2 timeout=60000 "
                       "tags=yunikorn.apache.org/creationTime:{}",
                       c.seconds() - 50));
    for (const char* app : {"old", "young"}) c.existing(app, "k", "vcore:1", "n", "placeholder=1 group=g");
    c.notices();
    c.end_recovery(); // its owner held the timers until now
    CHECK(c.notices() == Lines{});
    c.advance(std::chrono::milliseconds{1});
    CHECK(c.notices() == Lines{"application old is Resuming", "released old/k: TIMEOUT"});
    c.advance(std::chrono::seconds{9});
    CHECK(c.notices() == Lines{});
    c.advance(std::chrono::seconds{1});
    CHECK(c.notices() == Lines{"application young is Resuming", "released young/k: TIMEOUT"});
}

TEST_CASE("I-225 applications keep their order of submission, whatever the order of the replay") {
    RecoveryStory c;
    for (const int age : {5, 20, 10}) {
        c.play(fmt::format("apps new id=age-{} queue=root.a tags=yunikorn.apache.org/creationTime:{}", age,
                           c.seconds() - age));
        c.ask(fmt::format("age-{}", age), "k", "vcore:1");
    }
    CHECK(c.app("age-20").submitted == c.now() - std::chrono::seconds{20});
    c.end_recovery().node("n", "vcore:2");
    CHECK(c.cycles(3) == 2);
    CHECK(c.placed("age-20") + c.placed("age-10") + c.placed("age-5") == "kk");
    CHECK(c.placed("age-5") == "");
}

TEST_CASE("I-225 an application that is restored after quarantine keeps its time, too") {
    const std::string application = "apps new id=app queue=root.late tags=yunikorn.apache.org/creationTime:999999900";
    RecoveryStory open, closed;
    for (RecoveryStory* c : {&open, &closed}) c->play(application);
    closed.end_recovery();
    for (RecoveryStory* c : {&open, &closed}) {
        REQUIRE(c->configure("[{name: late}]") == "ok");
        CHECK(c->app("app").submitted == c->now() - std::chrono::seconds{100});
    }
}

TEST_CASE("I-225 an application that runs again has run since it was created, as far as anybody knows") {
    RecoveryStory c;
    c.node("n", "vcore:10");
    c.play(fmt::format("apps new id=app queue=root.a tags=yunikorn.apache.org/creationTime:{}", c.seconds() - 100));
    c.existing("app", "k", "vcore:1", "n");
    CHECK(c.app("app").started == c.now() - std::chrono::seconds{100});
    c.end_recovery().application("new").existing("new", "k", "vcore:1", "n");
    CHECK(c.app("new").started == c.now());
}

// --- events and counters --------------------------------------------------------------------------------------------

TEST_CASE("I-228 events of restored objects say so, and those of healed ones") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app").existing("app", "k", "vcore:3", "n");
    for (const std::string& line : c.event_messages()) {
        INFO(line);
        const bool has_own = line.find("NODE_SCHEDULABLE") != std::string::npos; // schedulable: true
        CHECK(has_own != (line.find(" # restored") != std::string::npos));
    }
    c.existing("later", "k", "vcore:3", "n").event_messages();
    c.application("later");
    const Lines lines = c.event_messages();
    for (const char* line : {"APP later ADD APP_NEW # restored", "APP later ADD APP_ALLOC # restored after quarantine",
                             "NODE n ADD NODE_ALLOC # restored after quarantine"}) {
        INFO(line);
        CHECK(std::count(lines.begin(), lines.end(), line) == 1);
    }
    c.end_recovery().application("new");
    for (const std::string& line : c.event_messages()) CHECK(line.find('#') == std::string::npos);
}

TEST_CASE("I-244 I-228 events of an application that a new configuration heals say so") {
    RecoveryStory c;
    c.application("app", "root.late").event_messages();
    REQUIRE(c.configure("[{name: late}]") == "ok");
    const Lines lines = c.event_messages();
    CHECK(std::count(lines.begin(), lines.end(), "APP app ADD APP_NEW # restored after quarantine") == 1);
}

TEST_CASE("I-228 restored allocations are not counted as allocated") {
    RecoveryStory c;
    c.node("n", "vcore:10")
        .application("app")
        .existing("app", "k", "vcore:3", "n")
        .existing("later", "l", "vcore:1", "n");
    CHECK(c.core().counters().restored == 1);
    c.application("later");
    CHECK(c.core().counters().restored == 2);
    CHECK(c.core().counters().allocated == 0);
    CHECK(c.core().counters().rejected == 0);
    CHECK(c.core().counters().scheduling_errors == 0); // what waits in quarantine is no error (I-148)
}

TEST_CASE("I-228 an ask that is reported as placed after it was sent as pending is restored, not allocated") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("app").ask("app", "k", "vcore:3").existing("app", "k", "vcore:3", "n");
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=1 asks=0");
    CHECK(c.core().counters().restored == 1);
    CHECK(c.core().counters().allocated == 0);
    c.end_recovery().ask("app", "l", "vcore:3").existing("app", "l", "vcore:3", "n");
    CHECK(c.core().counters().allocated == 1);
}

// --- budget ---------------------------------------------------------------------------------------------------------

TEST_CASE("I-242 A10 what is in quarantine counts as asks of the budget, up to twice the limit as all facts") {
    Settings settings = Cluster::manual_settings();
    settings.budget.asks = 2;
    RecoveryStory c{"[{name: a}]", settings};
    c.node("n", "vcore:10").notices();
    for (int i = 0; i < 5; ++i) c.existing("app", fmt::format("k-{}", i), "vcore:1", "n");
    CHECK(c.notices() == Lines{"rejected allocation app/k-4: P_NO_CAPACITY"});
    CHECK(c.core().holdings().of(Held::Asks) == 4);
    CHECK(c.occupied("n") == 4);
    c.ask("app", "waits", "vcore:1").application("other", "root.late");
    c.play("nodes create id=n res=vcore:9");
    CHECK(c.notices() == Lines{"rejected ask app/waits: P_NO_CAPACITY", "rejected application other: P_NO_CAPACITY",
                               "rejected node n: P_NO_CAPACITY"});
    c.application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted",
                               "application app is Running", "allocated app/k-0 on n", "allocated app/k-1 on n",
                               "allocated app/k-2 on n", "allocated app/k-3 on n"});
    CHECK(c.core().holdings().of(Held::Asks) == 4);
    c.remove("app");
    CHECK(c.core().holdings().of(Held::Asks) == 0);
}

TEST_CASE("I-242 A10 the names in quarantine count, too, and are given back") {
    RecoveryStory c{"[{name: a}]"};
    c.node("n", "vcore:10");
    const auto before = c.core().holdings().of(Held::Names);
    c.existing("app", "k", "vcore:1", "n", "tags=note:" + std::string(1000, 'x'));
    c.application("other", "root.late").play("nodes create id=n res=vcore:1");
    CHECK(c.core().holdings().of(Held::Names) > before + 1000);
    c.release("app", "k").remove("other").node("n", "vcore:10");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0");
    CHECK(c.core().holdings().of(Held::Names) == before);
}

// --- what is booked on a node ---------------------------------------------------------------------------------------

TEST_CASE("I-221 a node is complete when it has what the RM has booked on it, in amounts and in number") {
    RecoveryStory c;
    c.play("nodes create id=n res=vcore:10,memory:8 occ=vcore:1 avail=vcore:5,memory:8 count=3");
    c.application("app");
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=0 incomplete=[n missing=vcore:4 booked=3 has=0]");
    c.existing("app", "k", "vcore:1,memory:2", "n");
    CHECK(c.recovery() ==
          "nodes=1 apps=1 allocations=1 asks=0 incomplete=[n missing=vcore:3 surplus=memory:2 booked=3 has=1]");
    c.existing("app", "k", "vcore:1", "n");
    c.play("alloc place key=f res=vcore:3 node=n tags=foreign:default");
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=2 asks=0 incomplete=[n booked=3 has=2]");
    c.play("alloc place key=g res=vcore:0 node=n tags=foreign:default");
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=3 asks=0");
}

TEST_CASE("I-221 I-243 what is in quarantine is on its node; an update may say anew what is booked") {
    RecoveryStory c;
    c.play("nodes create id=n res=vcore:10 avail=vcore:7 count=1");
    c.existing("app", "k", "vcore:3", "n");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN]");
    c.release("app", "k");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 incomplete=[n missing=vcore:3 booked=1 has=0]");
    c.play("nodes update id=n avail=vcore:10 count=0");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0");
    c.play("nodes update id=n avail=vcore:10,gpu:2 count=0"); // a type that nothing else has
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 incomplete=[n surplus=gpu:2 booked=0 has=0]");
    c.play("nodes decommission id=n");
    CHECK(c.recovery() == "nodes=0 apps=0 allocations=0 asks=0");
}

TEST_CASE("I-221 A10 what is booked on nodes counts as names, up to twice the limit, and is given back") {
    const std::string long_type(256, 'x'), books = " avail=" + long_type + ":1 count=0";
    Settings settings = Cluster::manual_settings();
    RecoveryStory free{"[{name: a}]", settings};
    free.node("a", "vcore:1").node("b", "vcore:1");
    const auto bare = free.core().holdings().of(Held::Names);
    free.play("nodes update id=a" + books);
    const auto of_one = free.core().holdings().of(Held::Names) - bare;
    CHECK(of_one > 256);

    REQUIRE(bare % 2 == 0);
    settings.budget.names = bare / 2 + of_one; // twice that: exactly what two of them take
    RecoveryStory c{"[{name: a}]", settings};
    c.node("a", "vcore:1").node("b", "vcore:1").notices();
    c.play("nodes update id=a" + books);
    c.play("nodes update id=b" + books);
    CHECK(c.notices() == Lines{});
    CHECK(c.core().holdings().of(Held::Names) == bare + 2 * of_one);
    c.play("nodes update id=b avail=" + long_type + ":1,more:1 count=0");
    c.play("nodes create id=c res=vcore:1" + books);
    CHECK(c.notices() == Lines{"failed to UPDATE node b: P_NO_CAPACITY", "rejected node c: P_NO_CAPACITY"});
    CHECK(c.core().holdings().of(Held::Names) == bare + 2 * of_one);
    c.play("nodes update id=a avail=vcore:1 count=0");
    c.play("nodes update id=b avail=" + long_type + ":1,more:1 count=0");
    CHECK(c.notices() == Lines{});
    c.end_recovery();
    CHECK(c.core().holdings().of(Held::Names) == bare);
}

TEST_CASE("I-221 A10 of the types that are booked on a node one more is kept than a partition has, and no zeros") {
    RecoveryStory c;
    c.node("n", "vcore:1");
    std::string zeros, ones;
    for (int i = 0; i < 200; ++i) {
        zeros += fmt::format(",zero-{:03}:0", i);
        ones += fmt::format(",one-{:03}:1", i);
    }
    c.play("nodes update id=n avail=vcore:1" + zeros + " count=0");
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0");
    c.play("nodes update id=n avail=vcore:1" + zeros + ones + " count=0");
    const RecoveryView view = c.core().recovery().view();
    REQUIRE(view.incomplete.size() == 1);
    CHECK(view.incomplete[0].surplus.size() == 64); // the 65th is vcore, which is as booked
}

TEST_CASE("I-237 the lists of a report are cut at so many entries, and at so many bytes") {
    const auto listed = [](int nodes, int types, std::size_t letters) {
        RecoveryStory c;
        std::string books;
        for (int i = 0; i < types; ++i) books += fmt::format(",{}-{}:1", std::string(letters, 't'), i);
        for (int i = 0; i < nodes; ++i) {
            c.node(fmt::format("n-{}", i), "vcore:1");
            c.play(fmt::format("nodes update id=n-{} avail=vcore:1{} count=1", i, books));
            c.existing("later", fmt::format("{}-{}", std::string(letters, 'k'), i), "vcore:1", "n-0");
        }
        const RecoveryView view = c.core().recovery().view();
        CHECK(view.incomplete_total == static_cast<std::uint64_t>(nodes));
        CHECK(view.quarantine_total == static_cast<std::uint64_t>(nodes));
        CHECK(view.incomplete_bytes <= view.most_bytes + 65 * 270);
        return std::pair{view.incomplete.size(), view.quarantine.size()};
    };
    CHECK(listed(999, 0, 1) == std::pair{std::size_t{999}, std::size_t{999}});
    CHECK(listed(1001, 0, 1) == std::pair{std::size_t{1000}, std::size_t{1000}});
    const auto [incomplete, quarantined] = listed(400, 60, 230);
    CHECK((incomplete > 30 && incomplete < 40)); // of about 15 KB each
    CHECK(quarantined == 400);
}

// --- the end of the recovery ----------------------------------------------------------------------------------------

TEST_CASE("I-254 what is in quarantine when the recovery is accepted goes on occupying its node") {
    RecoveryStory c{"[{name: a}, {name: b}]"};
    c.node("n", "vcore:10").existing("app", "k", "vcore:8", "n").end_recovery();
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN]");
    CHECK(c.occupied("n") == 8);
    c.application("other", "root.b").ask("other", "a", "vcore:3");
    CHECK(c.cycles(3) == 0); // no capacity is promised twice
    c.notices();
    SECTION("until it is released") {
        c.release("app", "k");
        CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM"});
        CHECK(c.occupied("n") == 0);
        CHECK(c.cycles(1) == 1);
        CHECK(c.core().holdings().of(Held::Asks) == 1);
    }
    SECTION("or its application arrives") {
        c.application("app");
        CHECK(c.notices() == Lines{"accepted application app in root.a", "application app is Accepted",
                                   "application app is Running", "allocated app/k on n"});
        CHECK(c.recovery() == "nodes=1 apps=2 allocations=1 asks=1");
        CHECK(c.cycles(3) == 0);
        CHECK(c.allocated("root.a") == 8);
    }
    SECTION("or its application is removed, which never came") {
        c.remove("app");
        CHECK(c.recovery() == "nodes=1 apps=1 allocations=0 asks=1");
        CHECK(c.cycles(1) == 1);
    }
    SECTION("or its node is removed") {
        c.play("nodes decommission id=n");
        CHECK(c.notices() == Lines{"released app/k: STOPPED_BY_RM"});
        CHECK(c.recovery() == "nodes=0 apps=1 allocations=0 asks=1");
    }
}

TEST_CASE("I-254 after the recovery what is new is refused as ever, but what waits is healed") {
    RecoveryStory c;
    c.node("n", "vcore:10").application("lost", "root.late").existing("app", "k", "vcore:1", "m").end_recovery();
    c.notices();
    c.existing("nobody", "k", "vcore:1", "n").release("nobody", "k").application("refused", "root.late");
    c.play("nodes create id=n res=vcore:9");
    c.play("nodes create id=o res=vcore:9 | existing app=nobody key=k res=vcore:1");
    CHECK(c.notices() == Lines{"rejected allocation nobody/k: P_APP_UNKNOWN",
                               "ignored release of nobody/k: P_APP_UNKNOWN",
                               "rejected application refused: P_PLACEMENT", "rejected node n: P_NODE_EXISTS",
                               "rejected node o: P_EXISTING_ALLOCATION"});
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[application lost: QUEUE_INVALID; "
                          "allocation app/k on m: APP_UNKNOWN]");
    c.application("app");
    CHECK(c.notices() == Lines{"accepted application app in root.a"});
    c.node("m", "vcore:10");
    CHECK(c.notices() == Lines{"accepted node m", "application app is Accepted", "application app is Running",
                               "allocated app/k on m"});
    REQUIRE(c.configure("[{name: a}, {name: late}]") == "ok");
    CHECK(c.notices() == Lines{"accepted application lost in root.late"});
    CHECK(c.recovery() == "nodes=2 apps=2 allocations=1 asks=0");
}

TEST_CASE("I-222 an application with a gang is taken where the configuration refuses a new one by now") {
    RecoveryStory c{
        "[{name: fair, properties: {application.sort.policy: fair}}, {name: a, resources: {max: {vcore: 1}}}]"};
    c.play("apps new id=g1 queue=root.fair user=u gang=vcore:5000");
    c.play("apps new id=g2 queue=root.a user=u gang=vcore:5000");
    CHECK(c.recovery() == "nodes=0 apps=2 allocations=0 asks=0");
    c.end_recovery().notices();
    c.play("apps new id=g3 queue=root.fair user=u gang=vcore:5000");
    c.play("apps new id=g4 queue=root.a user=u gang=vcore:5000");
    CHECK(c.recovery() == "nodes=0 apps=2 allocations=0 asks=0");
}

TEST_CASE("I-254 a retry goes on with what is there and in quarantine") {
    RecoveryStory c;
    c.node("n", "vcore:10").existing("app", "k", "vcore:3", "n").end_recovery().begin_recovery();
    CHECK(c.recovery() == "nodes=1 apps=0 allocations=0 asks=0 quarantined=[allocation app/k on n: APP_UNKNOWN]");
    c.existing("app", "l", "vcore:3", "n").application("app");
    CHECK(c.recovery() == "nodes=1 apps=1 allocations=2 asks=0");
}

} // namespace yk::testing
