// SPDX-License-Identifier: Apache-2.0
// Who is looked at in a cycle, and in which order: S-105, S-303, S-410, R-002, R-022.

#include <catch2/catch.hpp>

#include "libcore/config/properties.h"
#include "libcore/partition/partition_context.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::seconds;

/// Two nodes with 2 of 10 left, held by `holder` with u0 and u1, and room in the cluster on none.
Cluster two_full_nodes() {
    Cluster c;
    c.node("spare", "vcore:100", "createdrain").nodes(2, "vcore:10").application("holder").application("app");
    c.existing("holder", "u0", "vcore:8", "n-0").existing("holder", "u1", "vcore:8", "n-1");
    return c;
}

} // namespace

TEST_CASE("S-105 a reservation is known to its application, node, leaf and partition; an ask has at most one") {
    Cluster c = two_full_nodes();
    c.ask("app", "k", "vcore:6").advance(seconds{3}).cycles(4);
    CHECK(c.reserved_on("n-0") == "k");
    CHECK(c.reserved_on("n-1") == "");
    CHECK(c.app("app").reservations == Lines{"k"});
    CHECK(c.partition().reservations == 1);
    const Queue& leaf = *c.core().find_partition("default")->state().queues.find("root.a");
    REQUIRE(leaf.reserved_applications.size() == 1);
    CHECK(leaf.reserved_applications.begin()->second == 1);
    const auto views = reservation_views(*c.core().read("default"));
    REQUIRE(views.size() == 1);
    CHECK(views[0].since == c.now());
}

TEST_CASE("S-410 the oldest reservation of an application goes first, whatever the order of its asks") {
    Cluster c = two_full_nodes();
    c.ask("app", "old", "vcore:6").advance(seconds{3}).cycles(1);
    REQUIRE(c.reserved_on("n-0") == "old");
    c.ask("app", "young", "vcore:6", "prio=9").advance(seconds{3}).cycles(1);
    REQUIRE(c.reserved_on("n-1") == "young");
    c.release("holder", "u0").release("holder", "u1").notices();
    CHECK(c.cycles(2) == 2);
    CHECK(c.notices() == Lines{"application app is Running", "allocated app/old on n-0", "allocated app/young on n-1"});
}

TEST_CASE("S-303 an ask with a required node has its place in the order like the others") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "low", "vcore:1", "prio=1");
    c.ask("app", "bound", "vcore:1", "prio=3 tags=yunikorn.apache.org/requiredNode:n-0");
    c.ask("app", "high", "vcore:1", "prio=5");
    std::string order;
    while (c.cycles(1) == 1)
        for (const char* key : {"low", "bound", "high"})
            if (c.node_of("app", key) == "n-0" && order.find(key) == std::string::npos) order += std::string{key} + " ";
    CHECK(order == "high bound low ");
}

TEST_CASE("R-022 an application is as old as its oldest ask, if that is older than itself") {
    Cluster c;
    c.nodes(1, "vcore:1").application("first").advance(seconds{10}).application("second");
    const Instant arrived = c.app("second").submitted;
    c.ask("first", "k", "vcore:1").ask("second", "k", "vcore:1");
    CHECK(c.app("second").submitted == arrived);
    c.ask("second", "old", "vcore:1", "tags=creationTime:100");
    CHECK(c.app("second").submitted < c.app("first").submitted);
    c.cycles(1);
    CHECK(c.allocations_of("second") == 1);
}

TEST_CASE("R-002 properties of priority come to a dynamic leaf through the template") {
    Cluster c{"[{name: p, parent: true, childtemplate: {properties: {priority.offset: '7', priority.policy: fence}}}]",
              "", "placementrules: [{name: provided, create: true}]"};
    c.application("app", "root.p.x").ask("app", "k", "vcore:1", "prio=2");
    CHECK(c.queue("root.p.x").priority_offset == 7);
    CHECK(c.queue("root.p.x").priority_fence);
    CHECK(c.queue("root.p.x").current_priority == 7); // of a fence the offset alone
}

TEST_CASE("R-002 R-021 the order of applications comes to a dynamic leaf through the template") {
    const bool template_says = GENERATE(true, false);
    const std::string properties = "properties: {application.sort.priority: disabled}";
    Cluster c{"[{name: p, parent: true, " + (template_says ? "childtemplate: {" + properties + "}" : properties) + "}]",
              "", "placementrules: [{name: provided, create: true}]"};
    c.nodes(1, "vcore:1").application("old", "root.p.x").application("urgent", "root.p.x");
    c.ask("old", "k", "vcore:1").ask("urgent", "k", "vcore:1", "prio=5");
    CHECK(c.queue("root.p.x").priority_sorting != template_says); // what the parent itself has is not inherited (C-233)
    c.cycles(1);
    CHECK(c.placed(template_says ? "old" : "urgent") == "k");
}

TEST_CASE("R-002 C-157 the recovery queue takes no properties from the template and is fifo") {
    Cluster c{"[{name: p}]",
              "childtemplate: {properties: {priority.offset: '7', priority.policy: fence, application.sort.policy: "
              "fair, application.sort.priority: disabled}}",
              "placementrules: [{name: provided}]"};
    c.play("apps new id=app queue=root.none user=u tags=application.create.force:true");
    const QueueView queue = c.queue("root.@recovery@");
    CHECK(queue.sort_policy == "fifo");
    CHECK(queue.priority_offset == 0);
    CHECK(queue.priority_sorting);
    CHECK_FALSE(queue.priority_fence);
    CHECK(queue.properties.empty());
}

TEST_CASE("R-002 C-157 the recovery queue ignores the properties of the root, too, and serves in order of submission") {
    Cluster c{"[{name: p}]",
              "properties: {priority.offset: '7', priority.policy: fence, application.sort.policy: fair, "
              "application.sort.priority: disabled, preemption.policy: disabled, preemption.delay: 5s, "
              "quota.preemption.delay: 5s, application.unschedasks.backoff: '1'}",
              "placementrules: [{name: provided}]"};
    c.play("apps new id=first queue=root.none user=u tags=application.create.force:true");
    c.play("apps new id=second queue=root.none user=u tags=application.create.force:true");
    REQUIRE(c.app("second").queue == "root.@recovery@");
    const PartitionState& state = c.core().find_partition("default")->state();
    const auto has_defaults = [&] {
        return state.queues.find("root.@recovery@")->properties == config::derive_properties({}, true);
    };
    CHECK(has_defaults());
    REQUIRE(c.configure("[{name: p}]", "properties: {application.sort.priority: disabled, priority.offset: '9'}",
                        "placementrules: [{name: provided}]") == "ok");
    CHECK(has_defaults()); // a reload brings nothing to it either
    c.node("n-0", "vcore:5").existing("first", "has", "vcore:3", "n-0");
    c.ask("second", "k2", "vcore:1")
        .ask("first", "k1", "vcore:1")
        .ask("second", "urgent", "vcore:1", "prio=1")
        .notices();
    c.cycles(2);
    CHECK(c.placed("second") == "urgent"); // priority counts: it is a fifo queue with the defaults
    CHECK(c.placed("first") == "has k1");  // fair would give it to who has less
}

} // namespace yk::testing
