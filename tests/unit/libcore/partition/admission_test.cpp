// SPDX-License-Identifier: Apache-2.0
// A10, no budget per RM: what one RM may hold, and that what is refused leaves nothing behind.

#include <functional>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"
#include "tests/support/partition_access.h"

namespace yk::testing {

namespace {

Cluster with(const Budget& budget, const std::string& queues = "[{name: a}]", const std::string& partition = {}) {
    Settings settings = Cluster::manual_settings();
    settings.budget = budget;
    return Cluster{queues, {}, partition, settings};
}

std::string long_tag(std::size_t size) {
    return "tags=note:" + std::string(size, 'x');
}

/// Asks for so much in place of nothing, and gives it up again, `times`; no cycle in between.
void come_and_go(Cluster& c, int times, const std::function<AskSpec(int)>& ask_of) {
    AllocationRequest come, go;
    ReleaseSpec gone;
    gone.application = "app";
    gone.key = "k";
    go.ask_releases.push_back(gone);
    for (int i = 0; i < times; ++i) {
        AskSpec ask = ask_of(i);
        ask.application = "app";
        ask.key = "k";
        come.asks = {ask};
        c.core().apply(come, c.now());
        c.core().apply(go, c.now());
    }
}

ApplicationSpec application(std::string_view id, std::string_view queue) {
    ApplicationSpec spec;
    spec.id = id;
    spec.queue = queue;
    spec.user = "u";
    return spec;
}

std::uint64_t held(Cluster& c, Held what) {
    CHECK(c.core().check().empty());
    return c.core().holdings().of(what);
}

} // namespace

TEST_CASE("A10 nodes beyond the limit are rejected, with what is used, the limit and its key") {
    Cluster c = with({.nodes = 2});
    c.nodes(2, "vcore:4").notices();
    c.node("late", "vcore:4");
    CHECK(c.notices_in_full() == Lines{"rejected node late: P_NO_CAPACITY # [node late: the resource manager has 2 of "
                                       "at most 2 nodes (rmMaxNodes of ykd.conf)]"});
    CHECK(c.partition().nodes == 2);
    CHECK(c.partition().capacity == ResourceMapView{{"vcore", 8}});
    c.play("nodes update id=n-0 res=vcore:9"); // what exists goes on
    CHECK(c.node_view("n-0").capacity == ResourceMapView{{"vcore", 9}});
    c.play("nodes decommission id=n-0");
    c.node("late", "vcore:4");
    CHECK(c.partition().nodes == 2);
    CHECK(held(c, Held::Nodes) == 2);
}

TEST_CASE("A10 applications and asks beyond the limit are rejected; what ends makes room") {
    Cluster c = with({.applications = 1, .asks = 3});
    c.nodes(1, "vcore:4").application("one").notices();
    c.application("two");
    REQUIRE(c.state_of("two") == "Rejected");
    CHECK(c.app("two").rejected_message ==
          "application two: the resource manager has 1 of at most 1 applications (rmMaxApplications of ykd.conf)");
    c.asks("one", 3, "vcore:1").notices();
    c.ask("one", "k", "vcore:1");
    CHECK(c.notices() == Lines{"rejected ask one/k: P_NO_CAPACITY"});
    CHECK(c.cycles(4) == 3);                    // a placement takes nothing more
    c.ask("one", "one-0", "vcore:2", "prio=1"); // in place
    CHECK(c.app("one").allocations.front().resource == ResourceMapView{{"vcore", 2}});
    c.release("one", "one-1").ask("one", "k", "vcore:1");
    CHECK(held(c, Held::Asks) == 3);
    c.remove("one").application("two");
    CHECK(c.state_of("two") == "New");
    CHECK(held(c, Held::Asks) == 0);
    CHECK(held(c, Held::Applications) == 1);
}

TEST_CASE("A10 what the RM reports as running is refused only at twice the limit, and a node as a whole") {
    Cluster c = with({.nodes = 1, .asks = 2});
    c.application("app").nodes(1, "vcore:9").asks("app", 2, "vcore:1");
    c.existing("app", "x", "vcore:1", "n-0"); // a fact, beyond the limit
    CHECK(c.placed("app") == "x");
    c.ask("app", "y", "vcore:1"); // no fact
    CHECK(c.app("app").asks.size() == 2);
    c.notices();
    c.play("nodes create id=m res=vcore:9 | existing app=app key=p res=vcore:1 | existing app=app key=q res=vcore:1");
    CHECK(c.notices() == Lines{"rejected node m: P_NO_CAPACITY"}); // 5 asks, and nothing of it
    CHECK(c.placed("app") == "x");
    CHECK(held(c, Held::Asks) == 3);
    c.play("nodes create id=m res=vcore:9 | existing app=app key=p res=vcore:1"); // the node, too, is a fact
    CHECK(c.placed("app") == "p x");
    c.play("nodes create id=o res=vcore:9");
    CHECK(c.partition().nodes == 2);
    c.existing("app", "app-0", "vcore:1", "m"); // of an ask that is there: it counts already
    CHECK(c.placed("app") == "app-0 p x");
    c.play("alloc place key=f res=vcore:1 node=m tags=foreign:static"); // at twice the limit
    CHECK(held(c, Held::Asks) == 4);
}

TEST_CASE("A10 an RM that reports all it has again, in any order, gets all of it back at a full budget") {
    for (const bool asks_first : {true, false}) {
        Cluster c = with({.nodes = 2, .applications = 1, .asks = 4});
        c.application("app");
        const auto asks = [&c] { c.ask("app", "w1", "vcore:9").ask("app", "w2", "vcore:9"); };
        if (asks_first) asks();
        c.play("nodes create id=m res=vcore:4 | existing app=app key=p res=vcore:1");
        c.play("nodes create id=n res=vcore:4 | existing app=app key=q res=vcore:1");
        if (!asks_first) asks();
        CHECK(c.placed("app") == "p q");
        CHECK(c.app("app").asks.size() == 2);
        c.ask("app", "w1", "vcore:9").ask("app", "w2", "vcore:9"); // delivered again
        c.existing("app", "p", "vcore:1", "m");
        CHECK(held(c, Held::Asks) == 4);
    }
}

TEST_CASE("A10 queues made by placement: refused with the application, and none of the levels is made") {
    Cluster c = with({.queues = 3}, "[{name: a, parent: true}]", "placementrules: [{name: provided, create: true}]");
    c.application("one", "root.a.b.c");
    CHECK(held(c, Held::Queues) == 2);
    c.application("two", "root.a.x.y");
    CHECK(c.state_of("two") == "Rejected");
    CHECK(c.queue("root.a.x").state == "gone");
    CHECK(c.app("two").rejected_message == "application two: the resource manager has 2 of at most 3 queues made by "
                                           "placement rules, 2 more are wanted (rmMaxQueues of ykd.conf)");
    c.application("three", "root.a.b.d").application("four", "root.a.b.c"); // one more, and none
    CHECK(held(c, Held::Queues) == 3);
    c.remove("three").advance(std::chrono::seconds{11});
    CHECK(held(c, Held::Queues) == 2);
    // a queue that the configuration takes over is not the RM's any more
    c.configure("[{name: a, queues: [{name: b, queues: [{name: c}]}]}]", {}, "placementrules: [{name: provided}]");
    CHECK(held(c, Held::Queues) == 0);
}

TEST_CASE("A10 names: tags, attributes and groups count; equal tags once; what is refused stays as it was") {
    Cluster c = with({.names = 8'000});
    c.nodes(1, "vcore:9").application("app");
    const std::uint64_t before = held(c, Held::Names);
    c.ask("app", "k", "vcore:1", long_tag(2000)).ask("app", "l", "vcore:1", long_tag(2000));
    CHECK(held(c, Held::Names) - before < 3000);
    c.notices();
    c.ask("app", "m", "vcore:1", long_tag(9000));
    CHECK(c.notices() == Lines{"rejected ask app/m: P_NO_CAPACITY"});
    c.ask("app", "k", "vcore:3", long_tag(9001)); // in place: nothing of the message is done
    CHECK(c.notices().size() == 1);
    CHECK(c.app("app").asks[0].resource == ResourceMapView{{"vcore", 1}});
    c.ask("app", "k", "vcore:3"); // shorter ones are always welcome
    CHECK(c.app("app").asks[0].resource == ResourceMapView{{"vcore", 3}});
    c.release("app", "");
    CHECK(held(c, Held::Names) - before < 500); // what is known of its user
}

TEST_CASE("A10 what is kept for people makes room for the names of what lives") {
    Cluster c = with({.names = 40'000, .ended = 50});
    for (int i = 0; i < 100; ++i) c.application(fmt::format("refused-{}", i), "root.nowhere");
    CHECK(application_views(*c.core().read("default"), ApplicationList::Rejected, false).size() == 50);
    c.nodes(1, "vcore:9").application("app").ask("app", "k", "vcore:1", long_tag(35'000));
    CHECK(c.app("app").asks.size() == 1);
    CHECK(held(c, Held::Names) <= 40'000);
    CHECK(application_views(*c.core().read("default"), ApplicationList::Rejected, false).size() < 50);
}

TEST_CASE("A10 foreign allocations: a longer tag counts, and twice the limit is their end") {
    Cluster c = with({.names = 3'000});
    c.nodes(1, "vcore:9").notices();
    c.play("alloc place key=f res=vcore:1 node=n-0 " + long_tag(4'000) + ",foreign:static");
    CHECK(c.node_view("n-0").occupied == ResourceMapView{{"vcore", 1}});
    c.notices();
    c.play("alloc place key=f res=vcore:2 node=n-0 " + long_tag(7'000) + ",foreign:static"); // stays as it was
    CHECK(c.notices() == Lines{"rejected allocation /f: P_NO_CAPACITY"});
    CHECK(c.node_view("n-0").occupied == ResourceMapView{{"vcore", 1}});
    c.play("alloc place key=f res=vcore:2 node=n-0 tags=foreign:static");
    CHECK(c.node_view("n-0").occupied == ResourceMapView{{"vcore", 2}});
    CHECK(held(c, Held::Names) < 1'000);
}

TEST_CASE("A10 attributes of a node: longer ones are refused and the node stays as it was") {
    Cluster c = with({.names = 2'000});
    c.nodes(1, "vcore:9").notices();
    const std::string zone(3'000, 'z');
    NodeRequest request;
    request.nodes.resize(1);
    request.nodes[0].id = "n-0";
    request.nodes[0].action = NodeAction::Update;
    request.nodes[0].capacity = Quantities{{"vcore", 5}};
    request.nodes[0].attributes = Tags{{"zone", zone}};
    c.core().apply(request, c.now());
    CHECK(c.notices() == Lines{"failed to UPDATE node n-0: P_NO_CAPACITY"});
    CHECK(c.node_view("n-0").capacity == ResourceMapView{{"vcore", 9}});
    request.nodes[0].attributes = Tags{{"zone", "z"}};
    c.core().apply(request, c.now());
    CHECK(c.node_view("n-0").capacity == ResourceMapView{{"vcore", 5}});
    CHECK(held(c, Held::Names) < 1'000);
}

TEST_CASE("A10 what an RM says of nodes counts as names, and goes where they have no room") {
    constexpr std::uint64_t kMost = 3'000'000;
    constexpr int kNodes = 12, kAsks = 60;
    Cluster c = with({.names = kMost});
    c.asks_rm().nodes(kNodes, "vcore:4").application("app");
    for (int i = 0; i < kAsks; ++i) c.ask("app", fmt::format("k-{}", i), "vcore:1");
    c.cycles(1);
    std::uint64_t most = 0;
    for (int call = 1; call <= kAsks; ++call) { // each refuses all nodes, each for a reason of its own
        std::string said = fmt::format("fit call={}", call);
        for (int n = 0; n < kNodes; ++n)
            said += fmt::format("{}n-{}:{}-{}-{}", n == 0 ? " no=" : ",", n, call, n, std::string(4000, 'r'));
        REQUIRE(c.answer(said) == "ok");
        c.cycles(1);
        most = std::max(most, held(c, Held::Names));
    }
    CHECK(most > kMost / 2);
    CHECK(most <= kMost);
    CHECK(c.reasons("app", "k-0").size() > 4000); // from before it was full
    c.notices();
    c.application("next", "root.a"); // the reasons do not stand in the way of what lives
    c.ask("next", "large", "vcore:1", long_tag(1'500'000));
    CHECK(c.app("next").pending_asks == 1);
    CHECK(held(c, Held::Names) < kMost);
    CHECK(c.reasons("app", "k-0").empty());
    c.advance(std::chrono::minutes(1)).cycles(1); // the next round
    CHECK_FALSE(c.asked().empty());
    c.play("apps remove id=app");
    c.play("apps remove id=next");
    CHECK(held(c, Held::Asks) == 0);
    CHECK(held(c, Held::Names) < 10'000);
}

TEST_CASE("A10 names of task groups are given back, whatever becomes of their asks") {
    Cluster c;
    c.nodes(1, "vcore:9").application("app");
    const std::uint64_t before = held(c, Held::Names);
    c.ask("app", "r", "vcore:1", "group=first").ask("app", "p", "vcore:1", "group=second placeholder=1");
    c.ask("app", "r", "vcore:1", "group=third").ask("app", "p", "vcore:1", "group=fourth placeholder=1"); // in place
    CHECK(held(c, Held::Names) > before);
    c.cycles(2);
    c.release("app", "");
    c.remove("app").application("app");
    CHECK(held(c, Held::Names) == before);
    const std::uint64_t one = held(c.ask("app", "r", "vcore:1", "group=g0").release("app", "r"), Held::Names);
    for (int i = 1; i < 100; ++i) c.ask("app", "r", "vcore:1", fmt::format("group=g{}", i)).release("app", "r");
    CHECK(held(c, Held::Names) == one);
}

TEST_CASE("A10 names: the task group of an ask that is replaced counts") {
    Cluster c = with({.names = 8'000});
    c.application("app").ask("app", "k", "vcore:1", "group=g").notices();
    c.ask("app", "k", "vcore:3", "group=" + std::string(9'000, 'g')); // in place: nothing of the message is done
    CHECK(c.notices() == Lines{"rejected ask app/k: P_NO_CAPACITY"});
    CHECK(c.app("app").asks[0].resource == ResourceMapView{{"vcore", 1}});
    c.ask("app", "k", "vcore:3", "group=h");
    CHECK(c.app("app").asks[0].resource == ResourceMapView{{"vcore", 3}});
    CHECK(held(c, Held::Names) < 8'000);
}

TEST_CASE("A10 I-722 instance types without room are counted under UNKNOWN") {
    Cluster c = with({.names = 20'000});
    c.nodes(1, "vcore:9").application("app");
    NodeRequest request;
    request.nodes.resize(1);
    request.nodes[0].id = "n-0";
    request.nodes[0].action = NodeAction::Update;
    for (int i = 0; i < 100; ++i) {
        const std::string type = fmt::format("{:04}{}", i, std::string(4'000, 't'));
        request.nodes[0].attributes = Tags{{"si/instance-type", type}};
        c.core().apply(request, c.now());
        c.existing("app", "k", "vcore:1", "n-0").advance(std::chrono::seconds{2});
        c.release("app", "k");
        REQUIRE(held(c, Held::Names) <= 20'000);
    }
    const auto seconds = c.app("app").used_seconds;
    CHECK(seconds.count("UNKNOWN") == 1);
    std::int64_t sum = 0;
    for (const auto& [type, used] : seconds) sum += used.at("vcore");
    CHECK(sum == 200); // nothing is lost
}

TEST_CASE("A10 what is known of users and groups counts as names, and goes with their applications") {
    Cluster c = with({}, "[{name: a, parent: true}]", "placementrules: [{name: provided, create: true}]");
    c.application("shallow", "root.a.b");
    const std::uint64_t before = held(c, Held::Names);
    c.ask("shallow", "k", "vcore:1");
    const std::uint64_t shallow = held(c, Held::Names);
    CHECK(shallow > before);
    c.play("apps new id=deep queue=root.a.c.d.e.f.g.h user=other groups=g");
    const std::uint64_t made = held(c, Held::Names);
    c.ask("deep", "k", "vcore:1");
    CHECK(held(c, Held::Names) - made > 2 * (shallow - before));
    c.remove("shallow").remove("deep").advance(std::chrono::seconds{60});
    CHECK(held(c, Held::Queues) == 0);
    CHECK(held(c, Held::Names) == 0);
}

TEST_CASE("A10 timers of what is gone are forgotten, however often a client makes them") {
    Cluster c = with({.ended = 50});
    const auto& state = c.core().find_partition("default")->state();
    c.application("app");
    ApplicationRequest refused;
    for (int i = 0; i < 3'000; ++i) refused.add.push_back(application("r", "root.nowhere"));
    for (int i = 0; i < 10; ++i) c.core().apply(refused, c.now());
    CHECK(state.timers.size() < 10'000);
    come_and_go(c, 6'000, [](int i) { // their groups may reserve a node much later, in no order
        AskSpec ask;
        ask.resource = {{"vcore", 1}};
        ask.tags = {{"creationTime", i % 2 == 0 ? "9000000000" : "8000000000"}};
        return ask;
    });
    CHECK(PartitionAccess::listed_delays(*c.core().find_partition("default")) < 5'000);
    CHECK(c.core().check().empty());
    c.advance(std::chrono::hours{100}); // what is left still expires and is purged
    CHECK(c.app("r").state == "gone");
}

TEST_CASE("A10 an ask whose group's look at the time was swept still reserves in time") {
    Cluster c;
    c.nodes(2, "vcore:4").application("app").asks("app", 2, "vcore:2");
    REQUIRE(c.cycles(2) == 2); // one on each: there is room for 4, but nowhere for 3
    c.ask("app", "waits", "vcore:3");
    come_and_go(c, 6'000, [](int i) {
        AskSpec ask;
        ask.resource = {{"vcore", 5 + i}};
        return ask;
    });
    CHECK(PartitionAccess::listed_delays(*c.core().find_partition("default")) < 5'000);
    c.advance(std::chrono::seconds{3});
    c.cycles(1);
    CHECK_FALSE((c.reserved_on("n-0") + c.reserved_on("n-1")).empty());
}

TEST_CASE("A10 counts of what ended in queues that went are kept of so many only") {
    Cluster c = with({.ended = 1}, "[{name: a, parent: true}]", "placementrules: [{name: provided, create: true}]");
    for (int round = 0; round < 3; ++round) {
        ApplicationRequest add, remove;
        std::vector<std::string> ids, queues;
        for (int i = 0; i < 1'000; ++i) {
            ids.push_back(fmt::format("x{}", i));
            queues.push_back(fmt::format("root.a.q{}-{}", round, i));
        }
        for (std::size_t i = 0; i < ids.size(); ++i) {
            add.add.push_back(application(ids[i], queues[i]));
            add.add.push_back(application(ids[i], queues[i])); // exists: refused, and counted
            remove.remove.push_back({{}, ids[i]});
        }
        c.core().apply(add, c.now());
        c.core().apply(remove, c.now());
        c.advance(std::chrono::seconds{20});
    }
    CHECK(c.core().find_partition("default")->state().ended.counts().size() < 2'100);
}

TEST_CASE("A10 a partition that goes gives back all that it held") {
    Cluster c;
    CHECK(c.play("config partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}, "
                 "{name: second, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}]") == "ok");
    c.nodes(1, "vcore:4");
    const Holdings before = c.core().holdings();
    c.play("nodes create id=m part=second res=vcore:9");
    c.play("apps new part=second id=app queue=root.a user=bob groups=");
    c.play("alloc ask part=second app=app key=k res=vcore:1");
    CHECK(held(c, Held::Nodes) == 2);
    CHECK(c.configure("[{name: a}]") == "ok");
    CHECK(held(c, Held::Nodes) == 1);
    CHECK(held(c, Held::Asks) == 0);
    CHECK(c.core().holdings().counts == before.counts);
}

} // namespace yk::testing
