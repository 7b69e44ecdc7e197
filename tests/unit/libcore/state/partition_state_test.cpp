// SPDX-License-Identifier: Apache-2.0
// States of a partition, and what its objects know of themselves: S-102, S-162, S-167, S-210, S-234, C-385.

#include <catch2/catch.hpp>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/snapshot.h"
#include "tests/unit/libcore/partition/usage.h"

namespace yk::testing {

namespace {

using std::chrono::seconds;

/// No request stops or drains a partition that stays (S-163), so the tests do it themselves.
void set_state(Cluster& c, ObjectState state) {
    const_cast<PartitionState&>(c.core().find_partition("default")->state()).state = state;
}

std::string application_refused(Cluster& c) {
    c.notices_in_full();
    c.application("new");
    const auto notices = c.notices_in_full();
    return notices.empty() ? std::string{} : notices.front();
}

std::size_t considered(Cluster& c, const std::string& path) {
    return c.core().find_partition("default")->state().queues.find(path)->application_index.size();
}

} // namespace

TEST_CASE("S-162 a partition that drains takes no applications and no nodes, and is scheduled on") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:1");
    set_state(c, ObjectState::Draining);
    CHECK_THAT(application_refused(c),
               Catch::Contains("partition [rm]default is stopped cannot add a new application new"));
    CHECK(c.state_of("new") == "Rejected");
    c.node("late", "vcore:5");
    CHECK_FALSE(node_view(*c.core().read("default"), "late"));
    c.ask("app", "l", "vcore:1");
    CHECK(c.cycles(3) == 2);
}

TEST_CASE("S-162 S-300 a stopped partition takes asks and allocations neither, and has no cycles") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:1");
    set_state(c, ObjectState::Stopped);
    CHECK_THAT(application_refused(c), Catch::Contains("is stopped"));
    c.ask("app", "l", "vcore:1").existing("app", "m", "vcore:1", "n-0");
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 2);
    for (const std::string& line : notices) CHECK_THAT(line, Catch::Contains("partition [rm]default is stopped"));
    CHECK_THAT(notices[0], Catch::Contains("app/l"));
    CHECK_THAT(notices[1], Catch::Contains("app/m"));
    CHECK(c.cycles(3) == 0);
    CHECK(c.app("app").pending_asks == 1);
    set_state(c, ObjectState::Active);
    CHECK(c.cycles(3) == 1);
}

TEST_CASE("S-167 what is placed is not placed again, what is gone is not given back again") {
    Cluster c;
    c.nodes(2, "vcore:10").application("app").ask("app", "k", "vcore:4").ask("app", "l", "vcore:1").cycles(2);
    const auto totals = [&c] {
        return std::vector<Map>{c.app("app").allocated, c.app("app").pending, c.queue("root").allocated,
                                c.node_view("n-0").allocated, c.node_view("n-1").allocated};
    };
    auto before = totals();
    c.notices();
    c.events();
    c.existing("app", "k", "vcore:4", c.node_of("app", "k")); // allocated already
    c.ask("app", "k", "vcore:4");
    CHECK(totals() == before);
    CHECK(c.notices() == Lines{});
    CHECK(c.events().empty());
    c.release("app", "k").notices();
    before = totals();
    c.events();
    c.release("app", "k"); // gone already
    CHECK(totals() == before);
    CHECK(c.events().empty());
}

TEST_CASE("S-210 the order of a leaf holds the applications that have something pending, and no others") {
    Cluster c;
    c.nodes(1, "vcore:10").application("idle").application("one").application("two");
    CHECK(considered(c, "root.a") == 0);
    c.ask("one", "k", "vcore:1").ask("two", "k", "vcore:20");
    c.cycles(0);
    CHECK(c.queue("root.a").applications == 3);
    CHECK(considered(c, "root.a") == 2);
    CHECK(c.cycles(2) == 1); // of the application that could not be placed the ask waits
    CHECK(c.queue("root.a").pending == Map{{"vcore", 20}});
    CHECK(considered(c, "root.a") == 1);
    c.release("two", "k");
    CHECK(c.queue("root.a").pending.empty());
    CHECK(considered(c, "root.a") == 0);
}

TEST_CASE("S-210 only an application with a placeholder is looked at for replacement") {
    Cluster c;
    c.nodes(1, "vcore:10").application("plain").application("gang");
    c.ask("gang", "ph", "vcore:2", "placeholder=1 group=g").cycles(1);
    c.ask("plain", "p", "vcore:20", "group=g prio=9").ask("gang", "real", "vcore:2", "group=g").notices();
    CHECK(c.cycles(1) == 1);
    CHECK(c.notices() ==
          Lines{"released gang/ph: PLACEHOLDER_REPLACED"}); // the first in order has nothing to be replaced
}

TEST_CASE("S-234 the walk for placing takes the nodes in order and leaves out those that are reserved") {
    Cluster c;
    c.node("spare", "vcore:100", "createdrain").nodes(3, "vcore:10").application("holder").application("app");
    c.existing("holder", "u0", "vcore:6", "n-0").existing("holder", "u1", "vcore:7", "n-1");
    c.existing("holder", "u2", "vcore:8", "n-2");
    c.ask("app", "large", "vcore:9").advance(seconds{3}).cycles(1);
    REQUIRE(c.reserved_on("n-0") == "large"); // the emptiest, so the first in order
    c.asks("holder", 4, "vcore:2");
    CHECK(c.cycles(6) == 2);
    CHECK(c.node_of("holder", "holder-0") == "n-1");
    CHECK(c.node_of("holder", "holder-1") == "n-2");
    CHECK(c.node_view("n-0").available == Map{{"vcore", 4}}); // there is room, but it is kept
    c.release("app", "large");
    CHECK(c.cycles(6) == 2);
    CHECK(c.node_view("n-0").available.empty());
}

TEST_CASE("S-102 what an application knows of itself") {
    Cluster c{"[{name: a, properties: {application.unschedasks.backoff: '1'}}]"};
    c.node("spare", "vcore:100", "createdrain").nodes(1, "vcore:10");
    c.play("apps new id=app queue=root.A user=bob groups=dev,ops tags=team:blue,x:y");
    const Instant submitted = c.now();
    c.advance(seconds{1}).existing("app", "placed", "vcore:2", "n-0").advance(seconds{1});
    c.ask("app", "ph", "vcore:1", "placeholder=1 group=g").cycles(1);
    c.ask("app", "waits", "vcore:9", "prio=5").ask("app", "too", "vcore:50", "prio=3").advance(seconds{3}).cycles(2);
    const ApplicationView app = c.app("app");
    CHECK(app.id == "app");
    CHECK(app.user == "bob");
    CHECK(app.groups == Lines{"dev", "ops"});
    CHECK(app.queue == "root.a");
    CHECK(app.submitted == submitted);
    CHECK(app.started == submitted + seconds{1});
    CHECK_FALSE(app.finished);
    CHECK(app.state == "Running");
    REQUIRE(app.state_log.size() == 3);
    CHECK(app.state_log[0] == std::pair{submitted, std::string{"New"}});
    CHECK(app.state_log[2] == std::pair{submitted + seconds{1}, std::string{"Running"}});
    REQUIRE(app.asks.size() == 2);
    CHECK(app.asks[0].key == "too");
    CHECK(app.asks[1].key == "waits");
    REQUIRE(app.allocations.size() == 2);
    CHECK(app.allocations[0].key == "ph");
    CHECK(app.allocations[1].key == "placed");
    CHECK(app.reservations == Lines{"waits"});
    CHECK(app.pending == Map{{"vcore", 59}});
    CHECK(app.allocated == Map{{"vcore", 2}});
    CHECK(app.placeholder == Map{{"vcore", 1}});
    CHECK(app.max_used == Map{{"vcore", 2}});
    REQUIRE(app.placeholder_data.size() == 1);
    CHECK(app.placeholder_data[0].task_group == "g");
    CHECK(app.max_ask_priority == 5);
    CHECK(app.has_pending);
    const PartitionState& state = c.core().find_partition("default")->state();
    const Application& object = state.applications[state.find_application("app")];
    CHECK(object.tags == std::vector<std::pair<std::string, std::string>>{{"team", "blue"}, {"x", "y"}});
    CHECK(object.runnable_in_queue);
    CHECK(object.runnable_by_quota);
    CHECK(app.backoff_deadline == c.now() + seconds{30});
}

TEST_CASE("C-385 the timer of quota preemption is not kept: a queue that comes back starts without one") {
    constexpr const char* on = "preemption: {quotapreemptionenabled: true}";
    const auto queue = [](const std::string& max) {
        return "[{name: keep}, {name: q, resources: {max: {memory: " + max +
               "}}, properties: {quota.preemption.delay: 60s}}]";
    };
    Cluster c{queue("20"), "", on};
    const auto run = [&c] {
        c.application("app", "root.q")
            .victim("app", "v", "memory:5", "n-0", 7200)
            .victim("app", "w", "memory:10", "n-0", 0);
    };
    c.nodes(1, "memory:100");
    run();
    REQUIRE(c.configure(queue("10"), "", on) == "ok"); // armed, due in 60 s
    c.advance(seconds{50}).remove("app");
    REQUIRE(c.configure("[{name: keep}]", "", on) == "ok");
    c.advance(seconds{10}); // swept
    REQUIRE(c.queue("root.q").state == "gone");
    REQUIRE(c.configure(queue("10"), "", on) == "ok");
    run(); // armed anew, by C-384
    c.advance(seconds{55});
    CHECK(c.preempted() == "");
    c.advance(seconds{10});
    CHECK(c.preempted() == "v");
}

TEST_CASE("C-385 C-384 after a restart the timer starts anew with what the RM reports, or not at all") {
    const std::string on = "preemption: {quotapreemptionenabled: true}";
    const std::string queue = "[{name: q, resources: {max: {memory: 10}}, properties: {quota.preemption.delay: 60s}}]";
    const auto restarted = [&](bool all) { // and told what there is
        Cluster c{queue, "", on};
        c.nodes(1, "memory:100").application("app", "root.q").victim("app", "v", "memory:5", "n-0", 7200);
        if (all) c.victim("app", "w", "memory:10", "n-0", 0);
        return c;
    };
    Cluster before = restarted(true);
    before.advance(seconds{50}); // due in 10 s
    Cluster after = restarted(true);
    after.advance(seconds{55});
    CHECK(after.preempted() == "");
    after.advance(seconds{10});
    CHECK(after.preempted() == "v");
    Cluster within = restarted(false);
    REQUIRE(within.configure(queue, "", on) == "ok");
    within.advance(seconds{120});
    CHECK(within.preempted() == "");
}

} // namespace yk::testing
