// SPDX-License-Identifier: Apache-2.0
// What people see of preemption: the last attempt of an ask and the last run of a quota, logs, events and views (P-024,
// P-097, P-133, section 5 no. 3); and that an attempt leaves nothing else behind (P-025).

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/preemption/guarantee.h"
#include "libcore/reports/explain.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"
#include "tests/support/state_text.h"
#include "tests/unit/libcore/preemption/starved.h"

namespace yk::testing {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

AskView ask_of(Cluster& c, const std::string& key) {
    for (const AskView& ask : c.app("x").asks)
        if (ask.key == key) return ask;
    return {};
}

} // namespace

TEST_CASE("P section 5 no. 3: the last attempt of an ask tells who was looked at, and what came of it") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}, {name: safe, resources: {guaranteed: "
              "{memory: 9}}}, {name: off, properties: {preemption.policy: disabled}}]"};
    c.application("x", "root.c2")
        .application("v", "root.c1")
        .application("s", "root.safe")
        .application("o", "root.off");
    c.nodes(1, "memory:8").victim("v", "high", "memory:2", "n-0", 1, "prio=9");
    c.victim("s", "s", "memory:2", "n-0", 1).victim("o", "o", "memory:2", "n-0", 1);
    c.victim("v", "low", "memory:1", "n-0", 1).victim("v", "low2", "memory:1", "n-0", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    auto attempt = ask_of(c, "k").last_preemption;
    REQUIRE(attempt);
    CHECK(attempt->at == c.now());
    CHECK(attempt->result == "preemption does not help");
    CHECK(attempt->fence_root == "root");
    CHECK(attempt->candidates == 2);
    CHECK(attempt->victims == 0);
    CHECK(attempt->excluded.at("of higher priority") == 1);
    CHECK(attempt->excluded_queues.at("in a queue within its guarantee") == 1);
    CHECK(attempt->excluded_queues.at("in a queue with preemption.policy disabled") == 1);
    c.release("v", "high").ask("x", "k", "memory:3", kOther).advance(seconds{16}).cycles(1);
    REQUIRE(c.preempted() == "low2");
    attempt = ask_of(c, "k").last_preemption;
    CHECK(attempt->result == "preemption victims were announced");
    CHECK(attempt->victims == 1);
    CHECK(attempt->nodes_tried == 1);
    CHECK(attempt->node == "n-0");
}

TEST_CASE("P section 5 no. 3: the last attempt of an ask with a required node, and the last run of a quota") {
    Cluster c{"[{name: a}]", "", "preemption: {quotapreemptionenabled: true}"};
    c.nodes(1, "memory:4").application("v").application("d");
    c.victim("v", "v", "memory:4", "n-0", 1, "prio=5");
    c.ask("d", "k", "memory:4", "tags=yunikorn.apache.org/requiredNode:n-0").cycles(3);
    const auto attempt = c.app("d").asks.front().last_preemption;
    REQUIRE(attempt);
    CHECK(attempt->node == "n-0");
    CHECK(attempt->fence_root.empty());
    CHECK(attempt->result == "no victim on the required node");
    CHECK(attempt->excluded.at("of higher priority") == 1);
    c.configure("[{name: a, resources: {max: {memory: 2}}, properties: {quota.preemption.delay: 1s}}]", "",
                "preemption: {quotapreemptionenabled: true}");
    CHECK_FALSE(c.queue("root.a").last_quota_run);
    c.advance(seconds{3});
    const auto run = c.queue("root.a").last_quota_run;
    REQUIRE(run);
    CHECK(run->target.at("memory") == 2);
    CHECK(run->candidates == 1);
    CHECK(run->victims == 0);
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
