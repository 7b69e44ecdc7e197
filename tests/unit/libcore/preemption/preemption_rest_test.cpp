// SPDX-License-Identifier: Apache-2.0
// preemption-gang-priority.md: defects and statements that no other file has: D-12, D-47, D-52, P-025, P-097, P-103,
// P-111, P-112, P-133.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/preemption/guarantee.h"
#include "libcore/reports/explain.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"
#include "tests/support/state_text.h"

namespace yk::testing {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kOther = "other=1 tags=creationTime:1000";
constexpr const char* kQuota = "preemption: {quotapreemptionenabled: true}";

std::string limited(int max) {
    return fmt::format("[{{name: q, resources: {{max: {{memory: {}}}}}, properties: {{quota.preemption.delay: 2s}}}}]",
                       max);
}

/// Queue q of `max` with allocations of 5, 6 and 9.
Cluster full(int max, const Settings& settings = Cluster::manual_settings()) {
    Cluster c{limited(max), "", kQuota, settings};
    c.nodes(1, "memory:100").application("q", "root.q");
    for (const int size : {5, 6, 9})
        c.victim("q", fmt::format("v{}", size), fmt::format("memory:{}", size), "n-0", 7200);
    return c;
}

} // namespace

TEST_CASE("D-12 an application that ended leaves nothing that preemption could meet") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}, {name: old}]"};
    c.nodes(1, "memory:4").application("x", "root.c2").application("v", "root.old");
    c.victim("v", "v", "memory:4", "n-0", 1).release("v", "v").advance(minutes{1});
    REQUIRE(c.state_of("v") == "Completed");
    c.application("v", "root.c1").victim("v", "v", "memory:4", "n-0", 1); // the same names in another queue
    c.configure("[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]");
    c.advance(minutes{1}); // the first queue is gone
    REQUIRE(c.queue("root.old").state == "gone");
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    CHECK(c.preempted() == "v");
    CHECK(c.queue("root.c1").preempting.at("memory") == 4);
    c.release("v", "v", 3).cycles(1);
    CHECK(c.node_of("x", "k") == "n-0");
    CHECK(c.queue("root.c1").preempting.empty());
}

TEST_CASE("D-47 P-112 a run of a quota marks, counts and announces before anything else happens") {
    Cluster c = full(20);
    c.ask("q", "waits", "memory:5");
    REQUIRE(c.configure(limited(10), "", kQuota) == "ok");
    c.notices();
    c.advance(seconds{4}); // no cycle in between: whoever decides on stale numbers would take 6, too
    CHECK(c.notices() == Lines{"released q/v5: PREEMPTED_BY_SCHEDULER"});
    CHECK(c.queue("root.q").preempting.at("memory") == 5);
    CHECK(c.queue("root").preempting.at("memory") == 5);
    c.cycles(3);
    CHECK(c.notices() == Lines{});
    CHECK(c.queue("root.q").allocated.at("memory") == 20);
}

TEST_CASE("D-52 an ask without a preemption policy takes nobody and is taken after those that agreed") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.nodes(1, "memory:4").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "agreed", "memory:2", "n-0", 1);
    c.existing("v", "silent", "memory:2", "n-0", "tags=creationTime:9"); // newer
    c.ask("x", "k", "memory:2", "tags=creationTime:1000").advance(minutes{1}).cycles(3);
    CHECK(c.preempted() == "");
    c.ask("x", "k", "memory:2", kOther).cycles(1);
    CHECK(c.preempted() == "agreed");
}

TEST_CASE("P-024 that an ask may not attempt yet is in its log, under a reason of its own") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.nodes(1, "memory:4").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", "other=1").cycles(1);
    std::string reasons;
    const AskView ask = c.app("x").asks.front();
    for (const LogEntryView& entry : ask.log) reasons += entry.message + "; ";
    CHECK(reasons == "Not enough queue quota; preemption preconditions failed; ");
}

TEST_CASE("P-025 attempts and explanations leave no trace in queues, nodes and applications") {
    Cluster c{"[{name: p, parent: true, resources: {max: {memory: 8}}, queues: [{name: c2, resources: {guaranteed: "
              "{memory: 5}}}, {name: c1, resources: {guaranteed: {memory: 3}}}]}]"};
    c.nodes(2, "memory:5").application("x", "root.p.c2").application("v", "root.p.c1");
    c.victim("v", "a", "memory:2", "n-0", 1).victim("v", "b", "memory:2", "n-1", 2);
    const auto numbers = [&c] {
        std::string text;
        for (const char* path : {"root", "root.p", "root.p.c1", "root.p.c2"}) {
            const QueueView queue = c.queue(path);
            text += fmt::format("{} {} {}; ", queue.allocated.count("memory") != 0 ? queue.allocated.at("memory") : 0,
                                queue.preempting.size(), queue.pending.count("memory") != 0);
        }
        for (const char* node : {"n-0", "n-1"}) text += fmt::format("{} ", c.node_view(node).available.at("memory"));
        return text;
    };
    c.ask("x", "k", "memory:5", kOther); // both would have to go, c1 is guaranteed 3
    const std::string before = numbers();
    c.cycles(2);
    REQUIRE(c.preempted() == "");
    CHECK(c.core().explain_preemption("default", "x", "k", c.now()).verdict == "NO_VICTIMS");
    CHECK(numbers() == before);
    const PartitionState& state = c.core().find_partition("default")->state();
    const Queue& leaf = *state.queues.find("root.p.c2");
    GuaranteeView view{state, leaf}; // what an attempt works on
    const auto left = view.remaining(leaf);
    const Resource& amount =
        state.resource_of(state.allocations[state.applications[state.find_application("v")].allocations[0]]);
    view.charge(amount);
    view.remove(*state.queues.find("root.p.c1"), amount);
    CHECK_FALSE(view.remaining(leaf)->equals(*left));
    view.rewind(0);
    CHECK(view.remaining(leaf)->equals(*left));
    CHECK(numbers() == before);
}

TEST_CASE("P-025 what an attempt tried in vain is seen by nobody, neither in the state nor by the next attempt") {
    Cluster c{"[{name: p, parent: true, resources: {max: {memory: 10}}, queues: [{name: c2, resources: {guaranteed: "
              "{memory: 4}}}, {name: c1}, {name: c3}]}]"};
    c.node("n-0", "memory:4").node("n-1", "memory:1").node("n-2", "memory:7").application("x", "root.p.c2");
    c.application("v", "root.p.c1").application("h", "root.p.c3").existing("h", "h", "memory:7", "n-2", "prio=9");
    c.victim("v", "v1", "memory:2", "n-0", 1).victim("v", "v2", "memory:1", "n-1", 2);
    const auto state = [&c] {
        std::string text = text_of(*queue_view(*c.core().read("default"), "root", true));
        for (const NodeView& node : node_views(*c.core().read("default"), true)) text += text_of(node);
        for (const char* app : {"v", "h"}) text += text_of(c.app(app));
        return text;
    };
    // v1 makes room on n-0; for the max of p v2 has to go, too, and then 1 is short
    c.ask("x", "large", "memory:4", std::string{kOther} + " prio=1");
    const std::string before = state();
    c.cycles(1);
    CHECK(c.reasons("x", "large").find("preemption helps but falls short (1)") != std::string::npos);
    CHECK(c.preempted() == "");
    CHECK(state() == before);
    // in one cycle: what `large` took and charged in thought is there for `small`
    c.release("x", "large").ask("x", "again", "memory:4", std::string{kOther} + " prio=1");
    c.ask("x", "small", "memory:3", kOther).cycles(1);
    CHECK(c.reasons("x", "again").find("preemption helps but falls short (1)") != std::string::npos);
    CHECK(c.preempted() == "v1 v2");
    CHECK(c.reserved_on("n-0") == "small");
}

TEST_CASE("P-097 while nobody may go an event says so every 15 s") {
    Cluster c{"[{name: a}]"};
    c.nodes(1, "memory:4").application("v").application("d");
    c.victim("v", "v", "memory:4", "n-0", 1, "prio=5");
    c.ask("d", "k", "memory:4", "tags=yunikorn.apache.org/requiredNode:n-0").cycles(2);
    const auto notices = [&c] {
        int count = 0;
        for (const std::string& event : c.ask_events())
            count += event.find("no preemption victim") != std::string::npos;
        return count;
    };
    CHECK(notices() == 1);
    c.advance(seconds{14}).cycles(3);
    CHECK(notices() == 0);
    c.advance(seconds{1}).cycles(3);
    CHECK(notices() == 1);
    c.advance(seconds{15}).cycles(1);
    CHECK(notices() == 1);
    c.play("alloc unask app=d key=k");
    c.advance(minutes{5}).cycles(3);
    CHECK(notices() == 0);
}

TEST_CASE("P-103 raising the max does not stop a run in progress") {
    Cluster c = full(20);
    c.configure(limited(10), "", kQuota);
    c.advance(seconds{4});
    REQUIRE(c.preempted() == "v5");
    c.configure(limited(50), "", kQuota);
    c.advance(seconds{10});
    CHECK(c.preempted() == "v5"); // it was announced, so it goes
    c.release("q", "v5", 3);
    CHECK(c.queue("root.q").allocated.at("memory") == 15);
    CHECK(c.queue("root.q").preempting.empty());
}

TEST_CASE(
    "P-111 after a run nothing is due, whatever it achieved and whoever waits; the next lowered max is due anew") {
    struct Row {
        int max;
        int above; // guaranteed to the parent of q
        const char* taken;
    };
    const auto queues = [](int max, int above) {
        return fmt::format("[{{name: p, resources: {{guaranteed: {{memory: {}}}}}, queues: [{{name: q, resources: "
                           "{{max: {{memory: {}}}}}, properties: {{quota.preemption.delay: 2s}}}}]}}]",
                           above, max);
    };
    // as much as is over, less than that, nobody is small enough, and all is guaranteed
    for (const Row& row : {Row{15, 0, "v5"}, Row{5, 0, "v5 v6"}, Row{16, 0, ""}, Row{10, 20, ""}})
        for (const bool waits : {false, true}) {
            INFO(row.max << " of 20, guaranteed " << row.above << ", an ask waits: " << waits);
            Cluster c{queues(20, row.above), "", kQuota};
            c.nodes(1, "memory:100").application("q", "root.p.q");
            for (const int size : {5, 6, 9})
                c.victim("q", fmt::format("v{}", size), fmt::format("memory:{}", size), "n-0", 7200);
            if (waits) c.ask("q", "waits", "memory:1");
            const Queue& queue = *c.core().find_partition("default")->state().queues.find("root.p.q");
            REQUIRE(c.configure(queues(row.max, row.above), "", kQuota) == "ok");
            CHECK(queue.quota_due == c.now() + seconds{2});
            c.advance(seconds{4});
            REQUIRE(queue.last_quota_run);
            const Instant ran = queue.last_quota_run->at;
            CHECK(c.preempted() == row.taken);
            CHECK_FALSE(queue.quota_due);
            c.advance(minutes{5});
            CHECK(c.preempted() == row.taken); // still above the max, and not once more
            CHECK(queue.last_quota_run->at == ran);
            REQUIRE(c.configure(queues(row.max - 1, row.above), "", kQuota) == "ok");
            CHECK(queue.quota_due == c.now() + seconds{2});
            c.advance(seconds{4});
            CHECK(queue.last_quota_run->at > ran);
            CHECK_FALSE(queue.quota_due);
        }
}

TEST_CASE("P-111 one run per due time, whatever it achieved and whoever waits; none with a manual schedule") {
    Cluster c = full(20);
    c.configure(limited(16), "", kQuota); // 4 too many, and nobody is as small
    c.ask("q", "waits", "memory:1").advance(seconds{4});
    CHECK(c.preempted() == "");
    REQUIRE(c.queue("root.q").last_quota_run);
    const Instant ran = c.queue("root.q").last_quota_run->at;
    c.advance(minutes{5});
    CHECK(c.queue("root.q").last_quota_run->at == ran);
    Settings manual = Cluster::manual_settings();
    manual.quota_checks = false;
    Cluster d = full(20, manual);
    d.configure(limited(10), "", kQuota);
    d.advance(minutes{5});
    CHECK(d.preempted() == "");
}

TEST_CASE("P-133 P-015 what applications, asks, allocations and queues show") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.nodes(1, "memory:4,vcore:9").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "v", "memory:4", "n-0", 1, "prio=3 originator=1");
    c.ask("x", "k", "memory:4", std::string{kOther} + " prio=7 originator=1").cycles(1);
    const AskView ask = c.app("x").asks.front();
    CHECK(ask.triggered_preemption);
    CHECK(ask.originator);
    CHECK(ask.priority == 7);
    CHECK(c.app("x").max_ask_priority == 7);
    const AllocationView victim = c.app("v").allocations.front();
    CHECK(victim.preempted);
    CHECK(victim.originator);
    CHECK(victim.priority == 3);
    CHECK(c.queue("root.c1").preempting.at("memory") == 4);
    c.ask("v", "p", "vcore:1", "placeholder=1 group=g").cycles(1);
    for (const AllocationView& each : c.app("v").allocations) {
        CHECK(each.placeholder == (each.key == "p"));
        CHECK(each.task_group == (each.key == "p" ? "g" : ""));
    }
    c.ask("v", "r", "vcore:1", "group=g").cycles(1);
    c.release("v", "p", 4);
    for (const AllocationView& each : c.app("v").allocations) CHECK(each.placeholder_used == (each.key == "r"));
    c.ask("x", "pinned", "vcore:1", "tags=yunikorn.apache.org/requiredNode:n-9").cycles(1);
    for (const AskView& each : c.app("x").asks) CHECK(each.required_node == (each.key == "pinned" ? "n-9" : ""));
}

} // namespace yk::testing
