// SPDX-License-Identifier: Apache-2.0
// preemption-gang-priority.md 3.10: quota preemption.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/preemption/quota.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kOn = "preemption: {quotapreemptionenabled: true}";

std::string queue(const std::string& max, const std::string& delay = "2s", const std::string& more = {}) {
    return fmt::format("[{{name: q, resources: {{{}}}, properties: {{quota.preemption.delay: {}}}{}}}]",
                       max.empty() ? "" : "max: {" + max + "}", delay, more);
}

/// Queue q with max `max`, and an application `q` in it.
Cluster limited(const std::string& max, const std::string& delay = "2s") {
    Cluster c{queue(max, delay), "", kOn};
    c.nodes(1, "memory:1000,vcore:1000").application("q", "root.q");
    return c;
}

Cluster& used(Cluster& c, std::initializer_list<int> sizes) {
    int i = 0;
    for (const int size : sizes)
        c.victim("q", fmt::format("v{}-{}", i++, size), fmt::format("memory:{}", size), "n-0", 7200);
    return c;
}

} // namespace

TEST_CASE("P-101 P-111 P-126 EX-P40 as much as fits in the overrun, never more, once") {
    Cluster c = limited("memory: 20", "1s");
    used(c, {5, 6, 9});
    c.configure(queue("memory: 10", "1s"), "", kOn);
    c.advance(milliseconds{999});
    CHECK(c.preempted() == "");
    c.advance(seconds{2}).notices();
    CHECK(c.preempted() == "v0-5");
    c.release("q", "v0-5", 3).advance(seconds{10});
    CHECK(c.preempted() == "");
    CHECK(c.queue("root.q").allocated.at("memory") == 15);
}

TEST_CASE("P-125 P-126 EX-P41 smaller ones first, greedily") {
    Cluster c = limited("memory: 18");
    used(c, {5, 6, 3, 4});
    c.configure(queue("memory: 10"), "", kOn);
    c.advance(seconds{4});
    CHECK(c.preempted() == "v2-3 v3-4");
}

TEST_CASE("P-121 EX-P42 D-40 no ancestor falls below its guarantee") {
    for (const auto& [guaranteed, target] : {std::pair{1200, 300}, std::pair{900, 500}}) {
        Cluster c{
            fmt::format("[{{name: p, resources: {{guaranteed: {{memory: {}}}}}, queues: [{{name: q, resources: {{max: "
                        "{{memory: 1000}}}}}}]}}]",
                        guaranteed)};
        c.nodes(1, "memory:2000").application("q", "root.p.q").victim("q", "v", "memory:1500", "n-0", 1);
        const PartitionState& state = c.core().find_partition("default")->state();
        const Resource amount = quota_target(*state.queues.find("root.p.q"));
        CHECK(state.named(amount).text() == fmt::format("map[memory:{}]", target));
    }
}

TEST_CASE("P-121 D-40 with several levels the smallest room counts, a level below its guarantee gives nothing") {
    Cluster c{"[{name: p, resources: {guaranteed: {memory: 20}}, queues: [{name: q, resources: {max: {memory: 5}, "
              "guaranteed: "
              "{memory: 3}}}]}]"};
    c.nodes(1, "memory:20").application("q", "root.p.q").victim("q", "v", "memory:10", "n-0", 1);
    const PartitionState& state = c.core().find_partition("default")->state();
    CHECK(quota_target(*state.queues.find("root.p.q")).empty());
}

TEST_CASE("P-120 EX-P43 types that the max does not name are no reason") {
    Cluster c = limited("memory: 1000");
    c.victim("q", "v", "vcore:150", "n-0", 1);
    c.configure(queue("memory: 500"), "", kOn);
    c.advance(seconds{5});
    CHECK(c.preempted() == "");
}

TEST_CASE("P-101 C-383 EX-P44 raised above the usage in time: nothing") {
    Cluster c = limited("memory: 20");
    used(c, {5, 6, 9});
    c.configure(queue("memory: 10"), "", kOn);
    c.advance(seconds{1});
    c.configure(queue("memory: 25"), "", kOn);
    c.advance(seconds{5});
    CHECK(c.preempted() == "");
}

TEST_CASE("P-101 C-383 EX-P45 EX-P46 lowered twice keeps the first time; another delay moves it") {
    Cluster twice = limited("memory: 20");
    used(twice, {5, 6, 9});
    twice.configure(queue("memory: 15"), "", kOn);
    twice.advance(seconds{1});
    twice.configure(queue("memory: 14"), "", kOn);
    twice.advance(seconds{1});
    CHECK(twice.preempted() == "v0-5");

    Cluster moved = limited("memory: 20");
    used(moved, {5, 6, 9});
    moved.configure(queue("memory: 10", "2s"), "", kOn);
    moved.advance(seconds{1});
    moved.configure(queue("memory: 10", "5s"), "", kOn);
    moved.advance(milliseconds{3900});
    CHECK(moved.preempted() == "");
    moved.advance(milliseconds{200});
    CHECK(moved.preempted() == "v0-5");
}

TEST_CASE("P-101 C-383 D-46 one type lowered and one raised, or a first max, arms as well") {
    Cluster mixed = limited("memory: 20, vcore: 10m");
    used(mixed, {5, 6, 9});
    mixed.configure(queue("memory: 10, vcore: 20m"), "", kOn);
    mixed.advance(seconds{3});
    CHECK(mixed.preempted() == "v0-5");

    Cluster first = limited("");
    used(first, {5, 6, 9});
    first.configure(queue("memory: 10"), "", kOn);
    first.advance(seconds{3});
    CHECK(first.preempted() == "v0-5");
}

TEST_CASE("P-102 usage that was reported, not scheduled, arms: allocations and resizes, on ancestors too") {
    Cluster c = limited("memory: 10", "100ms");
    used(c, {5, 5});
    c.advance(seconds{3});
    CHECK(c.preempted() == "");
    c.victim("q", "more", "memory:2", "n-0", 7200).advance(seconds{2});
    CHECK(c.preempted() == "more");
    c.release("q", "more", 3);
    c.play("alloc place app=q key=v0-5 res=memory:7 node=n-0");
    c.advance(seconds{2});
    CHECK(c.preempted() == ""); // 2 over, both victims are larger
    CHECK(c.queue("root.q").allocated.at("memory") == 12);
}

TEST_CASE("P-100 P-101 P-102 the root that was armed is not when its delay is taken away") {
    const bool takes_away = GENERATE(false, true);
    Cluster c{"[{name: q}]", "properties: {quota.preemption.delay: 1h}", kOn};
    c.nodes(1, "memory:10").application("q", "root.q").victim("q", "v", "memory:10", "n-0", 1);
    c.victim("q", "more", "memory:2", "n-0", 2); // reported, not scheduled: the cluster is smaller
    if (takes_away) CHECK(c.configure("[{name: q}]", {}, kOn) == "ok");
    c.advance(std::chrono::hours{2});
    CHECK(c.preempted().empty() == takes_away);
}

TEST_CASE("P-100 P-110 EX-P49 the partition's switch off, or no delay: never") {
    for (const bool enabled : {true, false}) {
        const std::string partition = enabled ? kOn : "";
        Cluster c{queue("memory: 20", enabled ? "0s" : "1s"), "", partition};
        c.nodes(1, "memory:1000").application("q", "root.q");
        used(c, {5, 6, 9});
        c.configure(queue("memory: 10", enabled ? "0s" : "1s"), "", partition);
        c.advance(seconds{5});
        CHECK(c.preempted() == "");
    }
}

TEST_CASE("P-122 EX-P47 D-41 a parent's overrun is shared out by what its children use above their guarantees") {
    const auto queues = [](int max) {
        return fmt::format(
            "[{{name: p, resources: {{max: {{memory: {}}}}}, properties: {{quota.preemption.delay: 1s}}, queues: "
            "[{{name: x}}, {{name: y, resources: {{guaranteed: {{memory: 10}}}}}}, {{name: z}}]}}]",
            max);
    };
    Cluster c{queues(60), "", kOn};
    c.nodes(1, "memory:1000").application("x", "root.p.x").application("y", "root.p.y").application("z", "root.p.z");
    for (int i = 0; i < 6; ++i) c.victim("x", fmt::format("x{}", i), "memory:5", "n-0", 7200);
    for (int i = 0; i < 2; ++i) c.victim("y", fmt::format("y{}", i), "memory:5", "n-0", 7200);
    for (int i = 0; i < 4; ++i) c.victim("z", fmt::format("z{}", i), "memory:5", "n-0", 7200);
    c.notices();
    c.configure(queues(10), "", kOn);
    const PartitionState& state = c.core().find_partition("default")->state();
    const Queue& parent = *state.queues.find("root.p");
    std::string shares;
    for (const LeafTarget& each : distribute(parent, quota_target(parent)))
        shares += each.leaf->name + " " + state.named(each.target).text() + " ";
    CHECK(shares == "x map[memory:30] z map[memory:20] ");
    c.advance(seconds{2});
    CHECK(c.preempted() == "x0 x1 x2 x3 x4 x5 z0 z1 z2 z3");
    CHECK(c.notices() ==
          Lines{"released x/x0: PREEMPTED_BY_SCHEDULER, x/x1: PREEMPTED_BY_SCHEDULER, x/x2: PREEMPTED_BY_SCHEDULER, "
                "x/x3: PREEMPTED_BY_SCHEDULER, x/x4: PREEMPTED_BY_SCHEDULER, x/x5: PREEMPTED_BY_SCHEDULER",
                "released z/z0: PREEMPTED_BY_SCHEDULER, z/z1: PREEMPTED_BY_SCHEDULER, z/z2: PREEMPTED_BY_SCHEDULER, "
                "z/z3: PREEMPTED_BY_SCHEDULER"}); // one message per application (P-127)
    c.advance(seconds{20});
    CHECK(c.notices() == Lines{});
}

TEST_CASE("P-122 shares are exact with large numbers") {
    Cluster c{"[{name: p, queues: [{name: x}, {name: y}]}]"};
    c.nodes(1, "memory:9000000000000000000").application("x", "root.p.x").application("y", "root.p.y");
    c.victim("x", "x", "memory:4000000000000000001", "n-0", 1).victim("y", "y", "memory:4000000000000000000", "n-0", 1);
    const PartitionState& state = c.core().find_partition("default")->state();
    Resource target;
    target.set(state.resources.find("memory"), 8000000000000000001);
    const auto shares = distribute(*state.queues.find("root.p"), target);
    REQUIRE(shares.size() == 2);
    CHECK(shares[0].target.get(state.resources.find("memory")) == 4000000000000000001);
}

TEST_CASE("P-125 EX-P48 D-42 opted out before originator, plain ones before both") {
    Cluster c = limited("memory: 20");
    c.victim("q", "driver", "memory:5", "n-0", 7200, "originator=1");
    c.existing("q", "out", "memory:5", "n-0", "tags=creationTime:7200");
    c.configure(queue("memory: 5"), "", kOn);
    c.advance(seconds{4});
    CHECK(c.preempted() == "out");
    Cluster d = limited("memory: 20");
    d.victim("q", "plain", "memory:5", "n-0", 7200).victim("q", "driver", "memory:5", "n-0", 7200, "originator=1");
    d.configure(queue("memory: 5"), "", kOn);
    d.advance(seconds{4});
    CHECK(d.preempted() == "plain");
}

TEST_CASE("P-125 better type match, then lower priority, then the newer hour") {
    Cluster c = limited("memory: 20");
    c.victim("q", "both", "memory:5,vcore:1", "n-0", 7200).victim("q", "match", "memory:5", "n-0", 7200, "prio=9");
    c.configure(queue("memory: 5"), "", kOn);
    c.advance(seconds{4});
    CHECK(c.preempted() == "match");
    Cluster d = limited("memory: 20");
    d.victim("q", "low", "memory:5", "n-0", 1, "prio=1").victim("q", "high", "memory:5", "n-0", 7200, "prio=2");
    d.configure(queue("memory: 5"), "", kOn);
    d.advance(seconds{4});
    CHECK(d.preempted() == "low");
    Cluster e = limited("memory: 20");
    e.victim("q", "old", "memory:4", "n-0", 3599)
        .victim("q", "hour", "memory:5", "n-0", 3600)
        .victim("q", "same", "memory:4", "n-0", 3600);
    e.configure(queue("memory: 8"), "", kOn);
    e.advance(seconds{4});
    CHECK(e.preempted() == "same"); // 4 of 5; then `hour` is too large, then `old`, too
}

TEST_CASE("P-128 D-43 one queue event with what was wanted and done") {
    Cluster c = limited("memory: 20");
    used(c, {5, 6, 9});
    c.configure(queue("memory: 10"), "", kOn);
    c.events();
    c.advance(seconds{4});
    int count = 0;
    for (const std::string& line : c.events())
        count += line.find("root.q SET QUEUE_PREEMPTION") != std::string::npos ? 1 : 0;
    CHECK(count == 1);
    CHECK(c.preempted() == "v0-5");
}

TEST_CASE("P-110 a queue that is due runs alone, what is below it has its turn in the next round") {
    const auto tree = [](int parent, int leaf) {
        return fmt::format(
            "[{{name: p, resources: {{max: {{memory: {}}}}}, properties: {{quota.preemption.delay: 1s}}, "
            "queues: [{{name: q, resources: {{max: {{memory: {}}}}}}}]}}]",
            parent, leaf);
    };
    Cluster c{tree(20, 20), "", kOn};
    c.nodes(1, "memory:1000").application("q", "root.p.q");
    used(c, {5, 6, 9});
    c.configure(tree(10, 8), "", kOn);
    c.advance(milliseconds{1500});
    CHECK(c.preempted() == "v0-5"); // as much of 10 as fits
    c.advance(seconds{1});
    CHECK(c.preempted() == "v0-5 v1-6"); // q is still 7 over
}

TEST_CASE("P-122 P-128 D-43 the run of a parent counts over all leaves, dynamic ones, too, and applications") {
    const auto tree = [](int max) {
        return fmt::format("[{{name: p, parent: true, resources: {{max: {{memory: {}}}}}, properties: "
                           "{{quota.preemption.delay: 1s}}, queues: [{{name: q}}]}}]",
                           max);
    };
    const std::string partition = "placementrules: [{name: provided, create: true}], " + std::string{kOn};
    Cluster c{tree(40), "", partition};
    c.nodes(1, "memory:1000").application("q", "root.p.q").application("r", "root.p.q");
    c.application("d", "root.p.made");
    for (const char* owner : {"q", "r", "d"})
        for (const char* each : {"1", "2"}) c.victim(owner, owner + std::string{each}, "memory:5", "n-0", 7200);
    REQUIRE(!c.queue("root.p.made").managed);
    c.configure(tree(15), "", partition);
    c.advance(seconds{2});
    const auto run = c.queue("root.p").last_quota_run;
    REQUIRE(run);
    CHECK(run->target.at("memory") == 15);
    CHECK(run->claimed.at("memory") == 15);
    CHECK(run->candidates == 6);
    CHECK(run->victims == 3);
    const std::string gone = c.preempted();
    CHECK(gone.find('d') != std::string::npos); // 5 of the 15 are its share
    CHECK(gone.size() == 8);
}

} // namespace yk::testing
