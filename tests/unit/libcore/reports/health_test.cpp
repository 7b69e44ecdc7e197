// SPDX-License-Identifier: Apache-2.0
// Health checks over the objects (S-610, S-611, interface.md 5.6): what is sound passes, and each kind of damage is
// found by its check, with the offender named.

#include <catch2/catch.hpp>

#include <functional>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/health.h"
#include "tests/support/cluster.h"
#include "tests/support/tamper.h"

namespace yk::testing {

namespace {

/// Nothing that an RM sends does such harm, so the tests do it themselves.
PartitionState& hands_on(Cluster& c) {
    return const_cast<PartitionState&>(c.core().find_partition("default")->state());
}

std::vector<std::string> failures(Cluster& c) {
    std::vector<std::string> failed;
    for (const HealthCheckView& check : health_of(c.core()))
        if (!check.succeeded) failed.push_back(check.name + ": " + check.diagnosis);
    return failed;
}

Cluster sound() {
    Cluster c{"[{name: a}]"};
    c.nodes(2, "vcore:10").application("app").existing("app", "k", "vcore:4", "n-0");
    c.ask("app", "l", "vcore:3").cycles(1);
    return c;
}

} // namespace

TEST_CASE("S-610 a sound cluster passes every check, each with a description; reservations are told") {
    Cluster c = sound();
    const auto checks = health_of(c.core());
    CHECK(checks.size() == 9);
    for (const HealthCheckView& check : checks) {
        INFO(check.name << ": " << check.diagnosis);
        CHECK(check.succeeded);
        CHECK_FALSE(check.description.empty());
    }
    CHECK(checks[4].name == "Reservation check");
    CHECK(checks[4].diagnosis == "[rm]default: 0 on 2 nodes");
}

TEST_CASE("S-610 I-245 amounts at the end of the range are no damage: an RM may send them") {
    Cluster c;
    const std::string most = "vcore:9223372036854775807";
    c.node("n", "vcore:5").node("m", most).application("app");
    c.play("alloc place key=f res=" + most +
           " node=n tags=foreign:default | place key=g res=vcore:9 node=n "
           "tags=foreign:default");
    c.existing("app", "a", most, "n").existing("app", "b", most, "n");
    CHECK(failures(c).empty());
}

TEST_CASE("S-610 I-245 amounts whose sums may be cut are known, wherever they are") {
    const std::string huge = "vcore:1125899906842624"; // 2^50
    const auto found = [](Cluster& c) { return has_huge_amounts(c.core().find_partition("default")->state()); };
    Cluster none = sound();
    CHECK_FALSE(found(none));
    Cluster node, ask, foreign;
    CHECK(found(node.node("n", huge)));
    CHECK(found(ask.application("app").ask("app", "k", huge)));
    foreign.node("n", "vcore:5").play("alloc place key=f res=" + huge + " node=n tags=foreign:default");
    CHECK(found(foreign));
}

TEST_CASE("S-610 every kind of damage is found, with the offender") {
    struct Row {
        std::function<void(PartitionState&)> damage;
        std::vector<std::string> found;
    };
    const auto node = [](PartitionState& s) -> Node& { return s.nodes[s.nodes.find("n-0")]; };
    const auto application = [](PartitionState& s) -> Application& {
        return s.applications[s.find_application("app")];
    };
    const auto vcore = [](PartitionState& s) { return s.resources.find("vcore"); };
    const Row rows[] = {
        {[&](PartitionState& s) { s.capacity.set(vcore(s), -1); },
         {"Negative resources (partitions): [rm]default", "Consistency of data (partition): [rm]default"}},
        {[&](PartitionState& s) { s.capacity.set(vcore(s), 21); }, {"Consistency of data (partition): [rm]default"}},
        {[&](PartitionState& s) {
             tamper(node(s).occupied).set(vcore(s), -1);
             tamper(node(s).available).set(vcore(s), 7);
         },
         {"Negative resources (nodes): node n-0"}},
        {[&](PartitionState& s) { tamper(node(s).available).set(vcore(s), 5); },
         {"Consistency of data (node): node n-0"}},
        {[&](PartitionState& s) { node(s).allocations.clear(); }, {"Orphan allocation on app check: application app"}},
        {[&](PartitionState& s) { application(s).allocations.clear(); },
         {"Orphan allocation on node check: node n-0; node n-1",
          "User usage: wrong sum: [rm]default user testuser at root.a"}},
        {[&](PartitionState& s) { tamper(application(s).allocated).set(vcore(s), 8); },
         {"Queue usage: wrong sum: [rm]default root.a"}},
        {[&](PartitionState& s) { tamper(s.queues.find("root.a")->allocated).set(vcore(s), 8); },
         {"Queue usage: wrong sum: [rm]default root, [rm]default root.a"}},
        {[&](PartitionState& s) { s.users[application(s).user_usage].usage.set(vcore(s), 8); },
         {"User usage: wrong sum: [rm]default user testuser at root.a, [rm]default user testuser at root"}},
    };
    for (const Row& row : rows) {
        INFO(row.found.front());
        Cluster c = sound();
        row.damage(hands_on(c));
        CHECK(failures(c) == row.found);
    }
}

TEST_CASE("S-610 an overcommitted node and a replacement in flight to another node are no damage") {
    Cluster c;
    c.nodes(1, "vcore:2").application("app").ask("app", "ph", "vcore:2", "placeholder=1 group=g").cycles(1);
    c.play("nodes update id=n-0 res=vcore:1");
    REQUIRE(c.node_view("n-0").available.at("vcore") == -1);
    c.node("n-1", "vcore:10");
    c.ask("app", "real", "vcore:2", "group=g tags=yunikorn.apache.org/requiredNode:n-1").cycles(1);
    REQUIRE(c.node_view("n-1").allocated.at("vcore") == 2); // on its node, not yet its application's
    REQUIRE(c.app("app").allocated.empty());
    CHECK(failures(c).empty());
}

TEST_CASE("S-611 what counts as a scheduling error and as a failed node") {
    Cluster c = sound();
    const auto errors = [&c] { return c.core().counters().scheduling_errors; };
    c.play("alloc place app=app key=x res=vcore:1 node=nowhere");
    CHECK(errors() == 1);
    c.play("alloc place app=app key=x res=vcore:0 node=n-0");
    c.play("alloc place app=app key=x res=vcore:-1 node=n-0");
    CHECK(errors() == 3);
    c.play("alloc place app=gone key=x res=vcore:1 node=n-0"); // it may have been removed on the way
    c.play("alloc ask app=app key=x res=vcore:0");             // not a placement
    c.play("alloc place app=app key=big res=vcore:500 node=n-0");
    CHECK(errors() == 3);
    CHECK(c.core().counters().nodes_failed == 0);
    c.play("nodes create id=x part=other res=vcore:1");
    CHECK(c.core().counters().nodes_failed == 1);
    c.play("nodes create id=n-0 res=vcore:1"); // known already: refused, but nothing is wrong with the cluster
    CHECK(c.core().counters().nodes_failed == 1);
}

} // namespace yk::testing
