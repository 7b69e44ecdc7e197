// SPDX-License-Identifier: Apache-2.0
// What is kept of an application: asks, logs, amounts over time, ended ones (S-033, S-112 to S-114, S-184, S-452,
// S-475, S-581), and the limits that bind nobody (C-412).

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "libcore/reports/snapshot.h"
#include "tests/unit/libcore/partition/usage.h"

namespace yk::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

} // namespace

TEST_CASE("S-033 P-132 whole seconds times amounts, apart for preempted ones, placeholders and the rest") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.nodes(1, "memory:8").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "taken", "memory:4", "n-0", 5).existing("v", "plain", "memory:3", "n-0");
    c.existing("v", "ph", "memory:1", "n-0", "placeholder=1 group=g");
    c.ask("x", "k", "memory:4", "other=1 tags=creationTime:1000").cycles(1);
    REQUIRE(c.preempted() == "taken");
    c.advance(milliseconds{10'900});
    CHECK(c.app("v").preempted_seconds.empty()); // counted when it ends
    c.release("v", "taken", 3).release("v", "ph").advance(seconds{1}).release("v", "plain");
    const ApplicationView view = c.app("v");
    CHECK(view.preempted_seconds == std::map<std::string, Map>{{"UNKNOWN", {{"memory", 40}}}});
    CHECK(view.placeholder_seconds == std::map<std::string, Map>{{"UNKNOWN", {{"memory", 10}}}});
    CHECK(view.used_seconds == std::map<std::string, Map>{{"UNKNOWN", {{"memory", 33}}}});
}

TEST_CASE("S-033 S-007 I-722 by instance type, saturating, and nothing for no whole second") {
    Cluster c;
    const auto node = [&c](const char* id, const Tags& attributes) {
        NodeRequest request;
        NodeSpec spec;
        spec.id = id;
        spec.action = NodeAction::Create;
        spec.attributes = attributes;
        spec.capacity = quantities("memory:100,vcore:4");
        request.nodes.push_back(spec);
        c.core().apply(request, c.now());
    };
    node("old", {{"node.kubernetes.io/instance-type", "m4"}});
    node("new", {{"node.kubernetes.io/instance-type", "m4"}, {"si/instance-type", "m5"}});
    node("plain", {});
    c.application("app").existing("app", "a", "memory:2,vcore:1", "old").existing("app", "b", "memory:2", "old");
    c.existing("app", "c", "memory:3", "new").existing("app", "d", "memory:4611686018427387904", "plain");
    c.existing("app", "brief", "vcore:1", "plain").advance(milliseconds{999}).release("app", "brief");
    c.advance(milliseconds{2'001});
    for (const char* key : {"a", "b", "c", "d"}) c.release("app", key);
    CHECK(c.app("app").used_seconds == std::map<std::string, Map>{{"UNKNOWN", {{"memory", INT64_MAX}}},
                                                                  {"m4", {{"memory", 12}, {"vcore", 3}}},
                                                                  {"m5", {{"memory", 9}}}});
}

TEST_CASE("S-033 G-037 from the bind to the end, whatever ends it") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.application("v", "root.c1").ask("v", "late", "memory:2").advance(seconds{5}); // waits: does not count
    c.nodes(1, "memory:8").cycles(1);
    c.ask("v", "ph", "memory:1", "placeholder=1 group=g").cycles(1);
    REQUIRE(c.placed("v") == "late ph");
    c.ask("v", "real", "memory:1", "group=g").advance(seconds{3}).cycles(1);
    c.advance(seconds{4}).release("v", "ph", 4); // a placeholder until it is confirmed gone
    c.advance(milliseconds{2'900});
    REQUIRE(c.placed("v") == "late real");
    c.play("nodes decommission id=n-0");
    const ApplicationView view = c.app("v");
    CHECK(view.placeholder_seconds == std::map<std::string, Map>{{"UNKNOWN", {{"memory", 7}}}});
    CHECK(view.used_seconds == std::map<std::string, Map>{{"UNKNOWN", {{"memory", 2 * 9 + 2}}}});
    CHECK(view.preempted_seconds.at("UNKNOWN").empty());
}

TEST_CASE("S-033 I-722 a placeholder that is preempted counts as preempted, one that was only marked, too") {
    for (const int type : {3, 1}) { // confirmed, or stopped by the RM before it is
        Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
        c.nodes(1, "memory:4").application("x", "root.c2").application("v", "root.c1");
        c.victim("v", "ph", "memory:4", "n-0", 5, "placeholder=1 group=g");
        c.ask("x", "k", "memory:4", "other=1 tags=creationTime:1000").cycles(1);
        REQUIRE(c.preempted() == "ph");
        c.ask("v", "more", "memory:1").advance(seconds{2}).release("v", "ph", type);
        CHECK(c.app("v").preempted_seconds == std::map<std::string, Map>{{"UNKNOWN", {{"memory", 8}}}});
        CHECK(c.app("v").placeholder_seconds.at("UNKNOWN").empty());
    }
}

TEST_CASE("S-033 the sum over allocations saturates, too") {
    Cluster c;
    c.nodes(1, "memory:1").application("app");
    for (const std::int64_t sum : {std::int64_t{4611686018427387904}, INT64_MAX}) {
        c.existing("app", "k", "memory:4611686018427387904", "n-0").advance(seconds{1}).release("app", "k");
        CHECK(c.app("app").used_seconds.at("UNKNOWN") == Map{{"memory", sum}});
    }
}

TEST_CASE("S-580 I-723 what was used is told with the end of the application and kept no longer") {
    Cluster c;
    c.nodes(1, "memory:4").application("app").existing("app", "a", "memory:2", "n-0").advance(seconds{3});
    c.release("app", "a").advance(seconds{29});
    CHECK(c.state_of("app") == "Completing");
    CHECK(c.app("app").used_seconds.at("UNKNOWN") == Map{{"memory", 6}});
    c.advance(seconds{1});
    CHECK(c.state_of("app") == "Completed");
    CHECK(c.app("app").used_seconds.empty());
}

TEST_CASE("S-112 an ask for more than one allocation is refused, for one or none it is a plain ask") {
    Cluster c;
    c.application("app").notices();
    c.ask("app", "two", "vcore:1", "max=2");
    CHECK(c.notices() == Lines{"rejected ask app/two: P_REPEAT"});
    c.ask("app", "one", "vcore:1", "max=1").ask("app", "none", "vcore:1", "max=0");
    CHECK(c.app("app").pending_asks == 2);
}

TEST_CASE("S-113 S-114 an ask is attempted once its user has room; its log has each reason once, with count and time") {
    Cluster c{"[{name: a, resources: {max: {vcore: 2m}}, limits: [{users: [bob], maxresources: {vcore: 1m}}]}]"};
    c.nodes(1, "vcore:10");
    submit(c, "app", "root.a", "bob");
    c.ask("app", "k", "vcore:3").cycles(2);
    AskView ask = c.app("app").asks.at(0);
    CHECK_FALSE(ask.scheduling_attempted);
    REQUIRE(ask.log.size() == 1);
    CHECK(ask.log[0].message == "Not enough user quota");
    CHECK(ask.log[0].count >= 1);
    REQUIRE(c.configure("[{name: a, resources: {max: {vcore: 2m}}}]") == "ok");
    c.advance(seconds{5}).cycles(1);
    ask = c.app("app").asks.at(0);
    CHECK(ask.scheduling_attempted);
    REQUIRE(ask.log.size() == 2);
    CHECK(ask.log[1].message == "Not enough queue quota");
    CHECK(ask.log[1].count == 1);
    CHECK(ask.log[1].last == c.now());
}

TEST_CASE("S-184 the peak is the largest value of each type ever, of real ones and of placeholders apart") {
    Cluster c;
    c.nodes(1, "memory:20,vcore:20").application("app");
    c.ask("app", "a", "memory:4,vcore:1").ask("app", "b", "memory:1,vcore:5").cycles(1);
    CHECK(c.app("app").max_used == Map{{"memory", 4}, {"vcore", 1}});
    c.release("app", "a").cycles(1);
    CHECK(c.app("app").max_used == Map{{"memory", 4}, {"vcore", 5}});
    c.ask("app", "ph", "memory:6", "placeholder=1 group=g").cycles(1);
    CHECK(c.app("app").max_used == Map{{"memory", 6}, {"vcore", 5}}); // not 7: never added to real ones
}

TEST_CASE("S-452 a new ask raises pending on every level and the priority, and has no callback of its own") {
    Cluster c{"[{name: p, queues: [{name: a}]}]"};
    c.application("app", "root.p.a").notices();
    c.ask("app", "k", "vcore:2", "prio=3").events();
    CHECK(c.notices() == Lines{"application app is Accepted"});
    c.ask("app", "ph", "vcore:1", "prio=7 placeholder=1 group=g");
    CHECK(c.notices() == Lines{});
    CHECK(c.events() == Lines{"APP app ADD APP_REQUEST ref=ph"});
    CHECK(c.app("app").pending == Map{{"vcore", 3}});
    for (const char* path : {"root", "root.p", "root.p.a"}) CHECK(c.queue(path).pending == Map{{"vcore", 3}});
    CHECK(c.app("app").max_ask_priority == 7);
    REQUIRE(c.app("app").placeholder_data.size() == 1);
    CHECK(c.app("app").placeholder_data[0].count == 1);
}

TEST_CASE("S-475 the usage of a user drops with what is released, also while asks are pending") {
    Cluster c;
    c.nodes(1, "vcore:4");
    submit(c, "app", "root.a", "bob");
    c.asks("app", 2, "vcore:3").cycles(1);
    CHECK(of_user(c, "bob", "root.a").usage == Map{{"vcore", 3}});
    c.release("app", "app-0");
    CHECK(c.app("app").pending_asks == 1);
    CHECK(of_user(c, "bob", "root.a").usage.empty());
}

TEST_CASE("S-581 two runs with the same id are two entries of the ended list") {
    Cluster c;
    for (int run = 0; run < 2; ++run)
        c.application("app").ask("app", "k", "vcore:1").release("app", "k").advance(seconds{30});
    const auto ended = application_views(*c.core().read("default"), ApplicationList::Completed, false);
    REQUIRE(ended.size() == 2);
    CHECK(ended[0].id == "app");
    CHECK(ended[1].id == "app");
    CHECK(ended[0].finished != ended[1].finished);
}

TEST_CASE("S-581 failed and completed runs of an id stand side by side, a live one is none of them") {
    Cluster c;
    c.nodes(1, "vcore:1");
    const auto fail = [&c] {
        c.play("apps new id=app queue=root.a gang=vcore:2 timeout=200 style=Hard");
        c.ask("app", "ph", "vcore:1", "placeholder=1 group=g").cycles(1);
        c.advance(milliseconds{200}).release("app", "ph", 2);
    };
    fail();
    c.application("app").ask("app", "k", "vcore:1").release("app", "k").advance(seconds{30});
    fail();
    c.application("app");
    std::string states;
    for (const ApplicationView& view : application_views(*c.core().read("default"), ApplicationList::Completed, false))
        states += view.id + " " + view.state + ", ";
    CHECK(states == "app Failed, app Completed, app Failed, ");
    CHECK(c.state_of("app") == "New");
}

TEST_CASE("S-581 I-735 the list of ended applications keeps the last ten thousand") {
    constexpr int kMany = 10'002;
    Cluster c;
    std::string add = "apps", ask = "alloc", unask = "alloc";
    for (int i = 0; i < kMany; ++i) {
        const char* bar = i == 0 ? " " : " | ";
        add += fmt::format("{}new id=app-{} queue=root.a", bar, i);
        ask += fmt::format("{}ask app=app-{} key=k res=vcore:1", bar, i);
        unask += fmt::format("{}release app=app-{} key=k type=1", bar, i);
    }
    c.play(add);
    c.play(ask);
    c.play(unask);
    c.advance(seconds{30});
    const auto ended = application_views(*c.core().read("default"), ApplicationList::Completed, false);
    REQUIRE(ended.size() == 10'000);
    const auto has = [&ended](const std::string& id) {
        return std::any_of(ended.begin(), ended.end(), [&id](const ApplicationView& view) { return view.id == id; });
    };
    CHECK_FALSE(has("app-0"));
    CHECK_FALSE(has("app-1"));
    CHECK(has("app-2"));
    CHECK(has(fmt::format("app-{}", kMany - 1)));
}

TEST_CASE("S-605 I-601 without a victim on its node an ask says so, at most once in 15 s") {
    Cluster c{"[{name: a}, {name: b}]"};
    c.nodes(2, "memory:8").application("d", "root.a").application("o", "root.b");
    c.existing("o", "driver", "memory:8", "n-0", "originator=1 prio=9");
    c.ask("d", "d", "memory:4", "tags=yunikorn.apache.org/requiredNode:n-0").cycles(1);
    std::string notices;
    for (int second = 0; second < 18; ++second) {
        c.play(fmt::format("nodes update id=n-0 res=memory:8,x:{}", second + 1)); // so that it is tried again
        c.cycles(2);
        for (const std::string& event : c.ask_events())
            if (event.find("no preemption victim found") != std::string::npos) notices += fmt::format("{} ", second);
        c.advance(seconds{1});
    }
    CHECK(notices == "0 15 ");
}

TEST_CASE("S-605 G-038 a placeholder that is smaller than the real ask is told of once") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "ph", "vcore:1", "placeholder=1 group=g").cycles(1);
    c.ask("app", "real", "vcore:2", "group=g").cycles(3);
    std::size_t notices = 0;
    for (const std::string& event : c.ask_events())
        notices += event.find("'real' of map[vcore:2] is larger than placeholder 'ph'") != std::string::npos ? 1U : 0U;
    CHECK(notices == 1);
}

TEST_CASE("S-605 an ask says when the queue has no room for it and when it has again, each only on a change") {
    Cluster c{"[{name: a, resources: {max: {vcore: 2m}}}]"};
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:3").cycles(3);
    const auto held = c.ask_events();
    REQUIRE(held.size() == 1);
    CHECK(held[0].find("'k' does not fit in queue 'root.a'") != std::string::npos);
    REQUIRE(c.configure("[{name: a, resources: {max: {vcore: 4m}}}]") == "ok");
    c.cycles(2);
    const auto fits = c.ask_events();
    REQUIRE(fits.size() == 1);
    CHECK(fits[0].find("'k' fits again in queue 'root.a'") != std::string::npos);
}

TEST_CASE("S-605 each ask says for itself that it does not fit the queue or the user's limit, and when it fits again") {
    // of the user (C-409), of the queue
    const std::string what =
        GENERATE("limits: [{{users: [bob], maxresources: {{vcore: {}m}}}}]", "resources: {{max: {{vcore: {}m}}}}");
    const auto limited = [&what](int most) { return fmt::format(fmt::runtime("[{{name: a, " + what + "}}]"), most); };
    Cluster c{limited(2)};
    c.asks_rm().nodes(1, "vcore:9"); // the RM agrees to no node, so nothing is placed
    submit(c, "app", "root.a", "bob");
    c.ask("app", "k1", "vcore:3").ask("app", "k2", "vcore:3").ask("app", "k3", "vcore:4");
    int call = 0;
    const auto notices = [&] {
        for (int round = 0; round < 3; ++round) {
            c.advance(seconds{2}).cycles(3);
            while (c.answer(fmt::format("fit call={} no=n-0:zone", call + 1)) == "ok") ++call;
        }
        std::set<std::string> verdicts;
        for (const std::string& event : c.ask_events()) {
            const std::size_t key = event.find(" Request '");
            const bool no = event.find("does not fit in queue") != std::string::npos ||
                            event.find("exceeds the available user quota") != std::string::npos;
            if (key != std::string::npos)
                CHECK(verdicts.insert(event.substr(key + 10, 2) + (no ? " no" : " yes")).second); // once
        }
        return fmt::format("{}", fmt::join(verdicts, ", "));
    };
    const auto after = [&](int most) {
        REQUIRE(c.configure(limited(most)) == "ok");
        return notices();
    };
    CHECK(notices() == "k1 no, k2 no, k3 no");
    CHECK(after(3) == "k1 yes, k2 yes");
    CHECK(after(1) == "k1 no, k2 no");
    CHECK(after(4) == "k1 yes, k2 yes, k3 yes");
    CHECK(after(5) == "");
}

TEST_CASE("S-605 P-072 the victim of queue preemption says by whom it was preempted, once") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.nodes(1, "memory:4").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "one", "memory:2", "n-0", 1).victim("v", "two", "memory:2", "n-0", 2);
    c.ask("x", "k", "memory:4", "other=1 tags=creationTime:1000").ask_events();
    c.cycles(3);
    REQUIRE(c.preempted() == "one two");
    std::string notices;
    for (const std::string& event : c.ask_events())
        if (event.find("Preempted by k from application x in root.c2") != std::string::npos)
            for (const char* victim : {"one", "two"})
                if (event.find(std::string{" REQUEST "} + victim + " ") != std::string::npos &&
                    event.find(" ref=v ") != std::string::npos)
                    notices += std::string{victim} + " ";
    CHECK(notices == "two one ");
}

TEST_CASE("C-412 a limit binds only in what it names") {
    Cluster c{"[{name: a, limits: [{users: [bob], maxapplications: 1}, {users: [ann], maxresources: {vcore: 2m}, "
              "maxapplications: 0}]}]"};
    c.nodes(1, "vcore:100");
    submit(c, "b1", "root.a", "bob");
    submit(c, "a1", "root.a", "ann");
    submit(c, "a2", "root.a", "ann");
    c.asks("b1", 3, "vcore:20").asks("a1", 1, "vcore:1").asks("a2", 1, "vcore:1");
    CHECK(c.cycles(6) == 5); // no resources for bob, no applications for ann
    CHECK(c.state_of("a2") == "Running");
}

} // namespace yk::testing
