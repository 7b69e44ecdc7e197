// SPDX-License-Identifier: Apache-2.0
// Known defects of the original (D-nn of preemption-gang-priority.md) that need a story of their own: each test fails
// when the defect is brought back into the core.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/preemption/quota.h"
#include "tests/unit/libcore/partition/gangs/story.h"
#include "tests/unit/libcore/preemption/starved.h"

namespace yk::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kOn = "preemption: {quotapreemptionenabled: true}";

constexpr const char* kLimited =
    "[{name: c2, resources: {guaranteed: {memory: 8}}, limits: [{limit: l, users: [bob], maxresources: {memory: 4}}]}, "
    "{name: c1}]";

/// k of bob has been offered v on n-0 to the RM.
Cluster offered(const std::string& more = {}) {
    Settings settings = Cluster::manual_settings();
    settings.reservations_disabled = true;
    Cluster c{kLimited, {}, {}, settings};
    c.asks_rm(false, true).application("v", "root.c1").nodes(1, "memory:4");
    c.play("apps new id=x queue=root.c2 user=bob");
    c.victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", std::string{kOther} + " " + more).cycles(1);
    REQUIRE(c.asked() == Lines{"call 1: x/k on n-0 if 1 or more of v go?"});
    return c;
}

} // namespace

TEST_CASE("G-030 P-064 the ask waits for a placeholder when the RM answers: nobody goes") {
    Cluster c = offered("group=g");
    c.ask("x", "ph", "memory:4", "placeholder=1 group=g");
    c.answer("preempt call=1 index=0");
    c.cycles(1);
    CHECK(c.preempted() == "");
}

TEST_CASE("P-012 the delay was made longer when the RM answers") {
    Cluster c = offered();
    REQUIRE(c.configure("[{name: c2, resources: {guaranteed: {memory: 8}}, properties: {preemption.delay: 900000h}, "
                        "limits: [{limit: l, users: [bob], maxresources: {memory: 4}}]}, {name: c1}]") == "ok");
    c.answer("preempt call=1 index=0");
    c.cycles(1);
    CHECK(c.preempted() == "");
}

TEST_CASE("P-044 D-23 inside a fenced parent the real priorities count, in both directions") {
    for (const int victim : {0, 9}) {
        Cluster c{"[{name: p, properties: {priority.policy: fence}, queues: [{name: a, resources: {guaranteed: "
                  "{memory: 1}}}, {name: b}]}]"};
        c.nodes(1, "memory:1").application("x", "root.p.a").application("v", "root.p.b");
        c.victim("v", "v", "memory:1", "n-0", 1, "prio=" + std::to_string(victim));
        c.ask("x", "k", "memory:1", std::string{kOther} + " prio=5").cycles(1);
        CHECK(c.preempted() == (victim == 0 ? "v" : ""));
    }
}

TEST_CASE("P-050 D-38 the age of a reservation counts from its creation, not from the ask's") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}, {name: c3}]"};
    c.application("x", "root.c2").application("v", "root.c1").application("r", "root.c3");
    c.node("spare", "memory:9", "createdrain").nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1);
    c.ask("r", "young", "memory:3", "tags=creationTime:1").cycles(1); // the ask is old, its reservation is not
    REQUIRE(c.reserved_on("n-0") == "young");
    c.ask("x", "k", "memory:4", "prio=1 other=1 tags=creationTime:1000").cycles(1);
    CHECK(c.preempted() == "");
    CHECK(c.reserved_on("n-0") == "young");
}

TEST_CASE("P-128 D-43 the summary of a run covers all leaves and applications") {
    const auto queues = [](int max) {
        return fmt::format(
            "[{{name: p, resources: {{max: {{memory: {}}}}}, properties: {{quota.preemption.delay: 1s}}, "
            "queues: [{{name: x}}, {{name: z}}]}}]",
            max);
    };
    Cluster c{queues(60), "", kOn};
    c.nodes(1, "memory:1000").application("x", "root.p.x").application("x2", "root.p.x").application("z", "root.p.z");
    for (int i = 0; i < 3; ++i) c.victim("x", fmt::format("x{}", i), "memory:5", "n-0", 7200);
    for (int i = 0; i < 3; ++i) c.victim("x2", fmt::format("y{}", i), "memory:5", "n-0", 7200);
    for (int i = 0; i < 4; ++i) c.victim("z", fmt::format("z{}", i), "memory:5", "n-0", 7200);
    REQUIRE(c.configure(queues(25), "", kOn) == "ok");
    c.advance(seconds{3});
    const auto run = c.queue("root.p").last_quota_run;
    REQUIRE(run);
    CHECK(run->candidates == 10);
    CHECK(run->victims == 5);
    CHECK(run->claimed.at("memory") == 25);
    CHECK(run->target.at("memory") == 25);
}

TEST_CASE("P-124 P-127 D-43 a placeholder that is being replaced is no victim of a quota") {
    const auto queues = [](int max) {
        return fmt::format(
            "[{{name: a, resources: {{max: {{memory: {}}}}}, properties: {{quota.preemption.delay: 1s}}}}]", max);
    };
    GangStory c{queues(20), "", kOn};
    c.nodes(1, "memory:100");
    c.gang("app", "memory:8").placeholders("app", 2, "memory:4").cycles(2);
    c.real("app", "r1", "memory:4").cycles(1);
    c.notices();
    REQUIRE(c.configure(queues(1), "", kOn) == "ok");
    c.advance(seconds{3});
    CHECK(c.notices() == Lines{"released app/ph-2: PREEMPTED_BY_SCHEDULER"});
    CHECK(c.preempted() == "ph-2");
}

TEST_CASE("P-094 P-098 D-45 a placeholder that is being replaced is no victim of a daemon") {
    GangStory c;
    c.node("n-0", "memory:4").node("n-9", "memory:9", "createdrain");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r1", "memory:2").cycles(1);
    c.application("d").ask("d", "d", "memory:2", "tags=yunikorn.apache.org/requiredNode:n-0");
    c.notices();
    c.cycles(3);
    CHECK(c.notices() == Lines{"released app/ph-2: PREEMPTED_BY_SCHEDULER"});
    CHECK(c.preempted() == "ph-2");
}

TEST_CASE("P-071 D-31 an extra victim that is too large is passed over") {
    Cluster c{"[{name: p, resources: {max: {memory: 10}}, queues: [{name: c1}, {name: c2, resources: {guaranteed: "
              "{memory: 4}}}]}]"};
    c.nodes(2, "memory:10").application("v", "root.p.c1").application("x", "root.p.c2");
    c.victim("v", "small", "memory:4", "n-0", 1).victim("v", "big", "memory:6", "n-1", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == "small");
}

TEST_CASE("P-053 D-31 the plan that the RM is offered passes over one that is too large") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.asks_rm(false, true).application("x", "root.c2").application("v", "root.c1").nodes(1, "memory:10");
    c.victim("v", "vA", "memory:6", "n-0", 3)
        .victim("v", "vB", "memory:2", "n-0", 2)
        .victim("v", "vC", "memory:2", "n-0", 1);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.asked() == Lines{"call 1: x/k on n-0 if 2 or more of vB, vC go?"});
}

TEST_CASE("G-055 D-10 the last placeholder in Resuming or Failing was preempted: its end is the follow-up") {
    for (const char* style : {"Soft", "Hard"}) {
        GangStory c;
        c.node("n-0", "memory:4").node("n-9", "memory:9", "createdrain");
        c.gang("app", "memory:6", std::string{"timeout=200 style="} + style)
            .placeholders("app", 3, "memory:2")
            .cycles(2);
        c.application("d").ask("d", "d", "memory:2", "tags=yunikorn.apache.org/requiredNode:n-0").cycles(3);
        const std::string victim = c.preempted();
        REQUIRE(victim != "");
        c.advance(milliseconds{200});
        c.confirm_timeout("app", victim == "ph-1" ? "ph-2" : "ph-1");
        CHECK(c.state_of("app") == (style[0] == 'S' ? "Resuming" : "Failing"));
        c.release("app", victim, 3);
        CHECK(c.state_of("app") == (style[0] == 'S' ? "Accepted" : "Failed"));
    }
}

TEST_CASE("P-051 D-33 originators are spared although their node comes first, with equal counts and no predicates") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.application("x", "root.c2").application("v", "root.c1").nodes(2, "memory:4");
    c.victim("v", "driver", "memory:4", "n-0", 9, "originator=1").victim("v", "plain", "memory:4", "n-1", 1);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == "plain");
}

TEST_CASE("P-122 D-41 a used type that a child does not guarantee is shared out, too") {
    Cluster c{"[{name: p, queues: [{name: x, resources: {guaranteed: {vcore: 1m}}}, {name: y}]}]"};
    c.nodes(1, "memory:100").application("x", "root.p.x").application("y", "root.p.y");
    c.victim("x", "x", "memory:30", "n-0", 1).victim("y", "y", "memory:10", "n-0", 1);
    const PartitionState& s = c.core().find_partition("default")->state();
    Resource target;
    target.set(s.resources.find("memory"), 20);
    const auto shares = distribute(*s.queues.find("root.p"), target);
    REQUIRE(shares.size() == 2);
    CHECK(shares[0].target.get(s.resources.find("memory")) == 15);
    CHECK(shares[1].target.get(s.resources.find("memory")) == 5);
}

TEST_CASE("G-040 D-06 an application whose only work is on its way into a placeholder's place is not over") {
    GangStory c;
    c.nodes(1, "memory:10");
    c.gang("app", "memory:4").placeholders("app", 2, "memory:2").cycles(2);
    c.real("app", "r1", "memory:2").cycles(1);
    c.confirm("app", "ph-1");
    c.real("app", "r2", "memory:2").cycles(1);
    c.release("app", "r1"); // nothing is pending, no real allocation is left
    CHECK(c.state_of("app") == "Running");
    c.confirm("app", "ph-2");
    CHECK(c.placed("app") == "r2");
    CHECK(c.log_of("app") == "Accepted Running");
}

TEST_CASE("P-054 D-32 on a node victims go until every type is covered, not only the first") {
    // Room that nobody may use is on `spare`, so that no queue is short: what goes is the choice of the node alone.
    const auto story = [](std::size_t listed, int size) {
        Settings settings = Cluster::manual_settings();
        settings.shortcuts.listed_victims = listed;
        settings.reservations_disabled = true; // the attempt comes at once (P-021)
        Cluster c{"[{name: c2, resources: {guaranteed: {memory: 16, vcore: 4m}}}, {name: c1}]", "", "", settings};
        c.application("x", "root.c2").application("v", "root.c1").nodes(1, fmt::format("memory:{},vcore:4", size));
        c.node("spare", "memory:16,vcore:16", "createdrain");
        c.victim("v", "m", fmt::format("memory:{}", size), "n-0", 2).victim("v", "c", "vcore:4", "n-0", 1);
        return c;
    };
    for (const std::size_t listed : {std::size_t{256}, std::size_t{0}}) // by candidates, by nodes
        for (const int size : {4, 16}) { // what the index knows suffices, or it takes more than that
            INFO(listed << ' ' << size);
            Cluster c = story(listed, size);
            c.ask("x", "k", "memory:4,vcore:4", kOther).cycles(1);
            CHECK(c.preempted() == "c m");
        }
    Cluster c = story(256, 4);
    c.asks_rm(false, true).ask("x", "k", "memory:4,vcore:4", kOther).cycles(1);
    CHECK(c.asked() == Lines{"call 1: x/k on n-0 if 2 or more of m, c go?"});
}

TEST_CASE("P-071 D-32 extra victims go until every type of every queue is covered, not only the first") {
    Cluster types{"[{name: p, resources: {max: {memory: 4, vcore: 4m}}, queues: [{name: c1}, {name: c2, resources: "
                  "{guaranteed: {memory: 4, vcore: 4m}}}]}]"};
    types.nodes(1, "memory:8,vcore:8").application("v", "root.p.c1").application("x", "root.p.c2");
    types.victim("v", "m", "memory:4", "n-0", 2).victim("v", "c", "vcore:4", "n-0", 1);
    types.ask("x", "k", "memory:4,vcore:4", kOther).cycles(1);
    CHECK(types.preempted() == "c m");

    Cluster levels{"[{name: p, resources: {max: {memory: 8}}, queues: [{name: c3}, {name: s, resources: {max: {memory: "
                   "6}}, queues: [{name: c1}, {name: c2, resources: {guaranteed: {memory: 4}}}]}]}]"};
    levels.nodes(1, "memory:20").application("v", "root.p.s.c1").application("x", "root.p.s.c2");
    levels.application("o", "root.p.c3").victim("o", "outside", "memory:4", "n-0", 9); // below no full queue but p
    levels.victim("v", "new", "memory:2", "n-0", 2).victim("v", "old", "memory:2", "n-0", 1);
    levels.ask("x", "k", "memory:4", kOther).cycles(1); // s is short of 2, p of 4
    CHECK(levels.preempted() == "new old");
}

TEST_CASE("P-060 D-33 where only a queue's limit is in the way, the node that costs nothing is kept") {
    Cluster c{"[{name: p, resources: {max: {memory: 10}}, queues: [{name: c1}, {name: c2, resources: {guaranteed: "
              "{memory: 10}}}]}]"};
    c.nodes(2, "memory:10").application("v", "root.p.c1").application("x", "root.p.c2");
    c.victim("v", "old", "memory:5", "n-0", 1).victim("v", "new", "memory:5", "n-0", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == "new");
    CHECK(c.reserved_on("n-1") == "k");
}

TEST_CASE("P-125 D-42 who agreed goes before who opted out") {
    const auto queues = [](int max) {
        return fmt::format(
            "[{{name: q, resources: {{max: {{memory: {}}}}}, properties: {{quota.preemption.delay: 1s}}}}]", max);
    };
    Cluster c{queues(20), "", kOn};
    c.nodes(1, "memory:1000").application("q", "root.q");
    c.existing("q", "a-out", "memory:5", "n-0", "tags=creationTime:7200");
    c.victim("q", "plain", "memory:5", "n-0", 7200);
    c.configure(queues(5), "", kOn);
    c.advance(seconds{4});
    CHECK(c.preempted() == "plain");
}

} // namespace yk::testing
