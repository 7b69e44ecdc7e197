// SPDX-License-Identifier: Apache-2.0
// Priorities: what queues publish, the orders that use it, and priorities across queues.

#include <catch2/catch.hpp>

#include "libcore/model/priority.h"
#include "libcore/partition/partition_context.h"
#include "tests/unit/libcore/partition/gangs/story.h"

namespace yk::testing {

namespace {

const Queue& queue_of(Cluster& c, const std::string& path) {
    return *c.core().find_partition("default")->state().queues.find(path);
}

std::int32_t priority_of(Cluster& c, const std::string& path) {
    return c.queue(path).current_priority;
}

} // namespace

TEST_CASE("EX-R1 R-010 to R-013 published priorities and the order of service") {
    Cluster c{
        "[{name: sys, parent: true, queues: [{name: low, properties: {priority.offset: '-1000'}}, {name: norm}, "
        "{name: high, properties: {priority.offset: '1000'}}]}, "
        "{name: ten, parent: true, properties: {priority.policy: fence}, queues: ["
        "{name: a, parent: true, properties: {priority.policy: fence, priority.offset: '10'}, queues: [{name: a1}]}, "
        "{name: b, parent: true, properties: {priority.policy: FENCE}, queues: [{name: b1}]}]}]"};
    const std::vector<std::tuple<std::string, std::string, int>> asks{{"low", "root.sys.low", 3},
                                                                      {"norm", "root.sys.norm", 10},
                                                                      {"high", "root.sys.high", 1},
                                                                      {"a1", "root.ten.a.a1", 8},
                                                                      {"b1", "root.ten.b.b1", 9}};
    for (const auto& [id, queue, priority] : asks)
        c.application(id, queue).ask(id, id, "memory:1", "prio=" + std::to_string(priority));
    CHECK(priority_of(c, "root.sys.low") == -997);
    CHECK(priority_of(c, "root.sys.norm") == 10);
    CHECK(priority_of(c, "root.sys.high") == 1001);
    CHECK(priority_of(c, "root.sys") == 1001);
    CHECK(priority_of(c, "root.ten.a.a1") == 8);
    CHECK(priority_of(c, "root.ten.a") == 10);
    CHECK(priority_of(c, "root.ten.b.b1") == 9);
    CHECK(priority_of(c, "root.ten.b") == 0);
    CHECK(priority_of(c, "root.ten") == 0);
    c.nodes(1, "memory:10");
    c.notices();
    for (int i = 0; i < 5; ++i) c.cycles(1);
    CHECK(c.notices() == Lines{"application high is Running", "allocated high/high on n-0",
                               "application norm is Running", "allocated norm/norm on n-0", "application a1 is Running",
                               "allocated a1/a1 on n-0", "application b1 is Running", "allocated b1/b1 on n-0",
                               "application low is Running", "allocated low/low on n-0"});
}

TEST_CASE("EX-R2 R-010 R-014 allocating the highest ask lowers the priority, the last one leaves nothing") {
    Cluster c{"[{name: a, properties: {priority.offset: '500'}}, {name: f, properties: {priority.policy: fence, "
              "priority.offset: '500'}}]"};
    c.nodes(1, "memory:10")
        .application("x")
        .ask("x", "k1", "memory:1", "prio=10")
        .ask("x", "k2", "memory:1", "prio=20");
    CHECK(c.app("x").max_ask_priority == 20);
    CHECK(priority_of(c, "root.a") == 520);
    c.cycles(1);
    CHECK(c.app("x").max_ask_priority == 10);
    CHECK(priority_of(c, "root.a") == 510);
    c.cycles(1);
    CHECK(priority_of(c, "root.a") == INT32_MIN); // trap 1: not shifted
    c.application("y", "root.f").ask("y", "k", "memory:1", "prio=7");
    CHECK(priority_of(c, "root.f") == 500);
    c.cycles(1);
    CHECK(priority_of(c, "root.f") == INT32_MIN); // nor replaced
    CHECK(priority_of(c, "root") == INT32_MIN);
}

TEST_CASE("R-013 removing an ask, an application or raising an ask shows at once up to root") {
    Cluster c{"[{name: p, parent: true, queues: [{name: l}]}]"};
    c.application("x", "root.p.l").ask("x", "k", "memory:1", "prio=3");
    CHECK(priority_of(c, "root") == 3);
    c.ask("x", "k", "memory:1", "prio=9");
    CHECK(priority_of(c, "root") == 9);
    c.application("y", "root.p.l").ask("y", "k", "memory:1", "prio=12");
    c.remove("y");
    CHECK(priority_of(c, "root") == 9);
    c.release("x", "k");
    CHECK(priority_of(c, "root") == INT32_MIN);
}

TEST_CASE("EX-R3 R-021 priority before submission, or after it when it does not count") {
    const bool enabled = GENERATE(true, false);
    Cluster c{std::string{"[{name: a, properties: {application.sort.priority: "} + (enabled ? "Enabled" : "disabled") +
              "}}]"};
    c.nodes(1, "memory:2").application("a").application("b");
    c.ask("a", "ka", "memory:2").ask("b", "kb", "memory:2", "prio=5");
    c.cycles(1);
    CHECK(c.placed(enabled ? "b" : "a") != "");
}

TEST_CASE("R-021 fair: priority before the share, or after it") {
    const bool enabled = GENERATE(true, false);
    Cluster c{std::string{"[{name: a, properties: {application.sort.policy: fair, application.sort.priority: "} +
              (enabled ? "enabled" : "disabled") + "}}]"};
    c.nodes(1, "memory:3").application("a").application("b").existing("b", "has", "memory:1", "n-0");
    c.ask("a", "ka", "memory:2").ask("b", "kb", "memory:2", "prio=5");
    c.cycles(1);
    CHECK(c.placed(enabled ? "b" : "a").find('k') != std::string::npos);
}

TEST_CASE("EX-R4 R-012 a fence shows its offset alone") {
    Cluster c{"[{name: x, properties: {priority.policy: fence}}, {name: y, properties: {priority.offset: '1'}}]"};
    c.nodes(1, "memory:1").application("ax", "root.x").application("ay", "root.y");
    c.ask("ax", "k", "memory:1", "prio=1000").ask("ay", "k", "memory:1");
    c.cycles(1);
    CHECK(c.placed("ay") == "k");
}

TEST_CASE("EX-R5 R-023 trap 3 the flag of the parent decides how its children are ordered") {
    Cluster c{"[{name: p, parent: true, properties: {application.sort.priority: disabled}, queues: ["
              "{name: l, resources: {guaranteed: {memory: 10}}, properties: {application.sort.priority: enabled}}, "
              "{name: m, resources: {guaranteed: {memory: 10}}}]}]"};
    c.nodes(1, "memory:8").application("al", "root.p.l").application("am", "root.p.m");
    c.existing("al", "has", "memory:5", "n-0").existing("am", "has", "memory:2", "n-0");
    c.ask("al", "k", "memory:1", "prio=100").ask("am", "k", "memory:1");
    c.cycles(1);
    CHECK(c.placed("am") == "has k");
}

TEST_CASE("EX-R6 R-012 trap 2 sums are clamped, and a queue at the bottom is served when nothing else can be") {
    Cluster c{"[{name: up, properties: {priority.offset: '2147483647'}}, "
              "{name: down, properties: {priority.offset: '-2147483648'}}]"};
    c.application("au", "root.up").ask("au", "k", "memory:1", "prio=10");
    c.application("ad", "root.down").ask("ad", "k", "memory:1", "prio=-5");
    CHECK(priority_of(c, "root.up") == INT32_MAX);
    CHECK(priority_of(c, "root.down") == INT32_MIN);
    c.nodes(1, "memory:10");
    c.cycles(1);
    CHECK(c.placed("au") == "k");
    c.cycles(1);
    CHECK(c.placed("ad") == "k");
}

TEST_CASE("R-015 an ask of exactly the lowest priority is legal and is placed") {
    Cluster c;
    c.nodes(1, "memory:1").application("x").ask("x", "k", "memory:1", "prio=-2147483648");
    CHECK(priority_of(c, "root.a") == INT32_MIN);
    CHECK(c.cycles(1) == 1);
}

TEST_CASE("R-015 the dump shows policy, offset and sorting") {
    Cluster c{"[{name: a, properties: {priority.policy: fence, priority.offset: '-7', "
              "application.sort.priority: disabled}}]"};
    const QueueView view = c.queue("root.a");
    CHECK(view.priority_fence);
    CHECK(view.priority_offset == -7);
    CHECK_FALSE(view.priority_sorting);
    CHECK(c.queue("root").priority_sorting);
}

TEST_CASE("R-001 R-003 C-153 values that do not parse, inheritance and removal give the defaults") {
    Cluster c{"[{name: p, parent: true, properties: {priority.policy: fence, priority.offset: '5', "
              "application.sort.priority: disabled}, queues: [{name: l}]}, "
              "{name: odd, properties: {priority.policy: '', priority.offset: '2147483648'}}]"};
    CHECK_FALSE(c.queue("root.p.l").priority_fence); // these two are not inherited
    CHECK(c.queue("root.p.l").priority_offset == 0);
    CHECK_FALSE(c.queue("root.p.l").priority_sorting); // this one is
    CHECK_FALSE(c.queue("root.odd").priority_fence);
    CHECK(c.queue("root.odd").priority_offset == 0);
    c.configure("[{name: p, parent: true, queues: [{name: l}]}, {name: odd}]");
    CHECK_FALSE(c.queue("root.p").priority_fence);
    CHECK(c.queue("root.p").priority_offset == 0);
    CHECK(c.queue("root.p.l").priority_sorting);
}

TEST_CASE("R-003 D-20 a reload recomputes the priorities of the queue and of its ancestors at once") {
    const auto queues = [](const std::string& offset) {
        return "[{name: p, parent: true, queues: [{name: l, properties: {priority.offset: '" + offset +
               "'}}]}, {name: other}]";
    };
    Cluster c{queues("0")};
    c.application("x", "root.p.l").ask("x", "k", "memory:1", "prio=1");
    c.application("y", "root.other").ask("y", "k", "memory:1", "prio=5");
    c.configure(queues("10"));
    CHECK(priority_of(c, "root.p.l") == 11);
    CHECK(priority_of(c, "root.p") == 11);
    CHECK(priority_of(c, "root") == 11);
    c.nodes(1, "memory:1").cycles(1);
    CHECK(c.placed("x") == "k");
}

TEST_CASE("R-020 D-21 asks: priority, then creation, then arrival") {
    Cluster c;
    c.application("x");
    for (const char* ask : {"k1 0 50", "k2 0 50", "k3 5 90", "k4 0 40", "k5 5 90", "k6 0 50"}) {
        const std::string text = ask;
        c.ask("x", text.substr(0, 2), "memory:1", "prio=" + text.substr(3, 1) + " tags=creationTime:" + text.substr(5));
    }
    c.nodes(1, "memory:10");
    c.notices();
    c.cycles(6);
    CHECK(c.notices() == Lines{"application x is Running", "allocated x/k3 on n-0", "allocated x/k5 on n-0",
                               "allocated x/k4 on n-0", "allocated x/k1 on n-0", "allocated x/k2 on n-0",
                               "allocated x/k6 on n-0"});
}

TEST_CASE("R-020 D-21 equal asks keep the order of arrival whatever else is in the list") {
    const auto order = [](const std::string& removed) {
        Cluster c;
        c.application("x");
        int size = 0;
        for (const char* key : {"k1", "k2", "k3", "k4", "k5"})
            c.ask("x", key, "memory:" + std::to_string(1 + size++ % 2), "tags=creationTime:50"); // two sizes in turn
        if (!removed.empty()) c.release("x", removed);
        c.nodes(1, "memory:20").notices();
        c.cycles(5);
        return c.notices();
    };
    CHECK(order("") == Lines{"application x is Running", "allocated x/k1 on n-0", "allocated x/k2 on n-0",
                             "allocated x/k3 on n-0", "allocated x/k4 on n-0", "allocated x/k5 on n-0"});
    CHECK(order("k1") == Lines{"application x is Running", "allocated x/k2 on n-0", "allocated x/k3 on n-0",
                               "allocated x/k4 on n-0", "allocated x/k5 on n-0"});
    CHECK(order("k3") == Lines{"application x is Running", "allocated x/k1 on n-0", "allocated x/k2 on n-0",
                               "allocated x/k4 on n-0", "allocated x/k5 on n-0"});
}

TEST_CASE("R-026 a lower ask that fits is placed in the same cycle when the higher ones cannot be") {
    Cluster c;
    c.nodes(1, "memory:2").application("x").application("y");
    c.ask("x", "large", "memory:3", "prio=9").ask("y", "small", "memory:1");
    CHECK(c.cycles(1) == 1);
    CHECK(c.placed("y") == "small");
}

TEST_CASE("R-027 D-22 reserved applications are served in queue order, then application order") {
    Cluster c{"[{name: a}, {name: b, properties: {priority.offset: '5'}}]"};
    c.nodes(3, "memory:4").node("spare", "memory:20", "createdrain").application("full");
    for (const char* node : {"n-0", "n-1", "n-2"}) c.existing("full", node, "memory:3", node);
    c.application("first").application("second").application("other", "root.b");
    for (const char* id : {"first", "second", "other"})
        c.ask(id, id, "memory:4",
              std::string{"tags=creationTime:100 prio="} + (std::string{id} == "second" ? "3" : "0"));
    c.cycles(3);
    for (const char* node : {"n-0", "n-1", "n-2"}) REQUIRE(c.reserved_on(node) != "");
    for (const char* node : {"n-0", "n-1", "n-2"}) c.release("full", node);
    c.notices();
    c.cycles(3);
    CHECK(c.notices() == Lines{"application other is Running", "allocated other/other on n-0",
                               "application second is Running", "allocated second/second on n-1",
                               "application first is Running", "allocated first/first on n-2"});
}

TEST_CASE("EX-R7 R-030 R-031 D-23 priorities of two queues meet at their lowest common ancestor") {
    Cluster c{"[{name: a, parent: true, properties: {priority.offset: '100', priority.policy: fence}, queues: ["
              "{name: b, properties: {priority.offset: '10'}}, {name: c, parent: true, properties: "
              "{priority.policy: fence, priority.offset: '5'}, queues: [{name: d}, {name: d2}]}]}]"};
    const Queue& a = queue_of(c, "root.a");
    const Queue& b = queue_of(c, "root.a.b");
    const Queue& fence = queue_of(c, "root.a.c");
    const Queue& d = queue_of(c, "root.a.c.d");
    const Queue& d2 = queue_of(c, "root.a.c.d2");
    CHECK(&lowest_common_ancestor(b, d) == &a);
    CHECK(&lowest_common_ancestor(d, d2) == &fence);
    CHECK(&lowest_common_ancestor(d, d) == &d);
    CHECK(&lowest_common_ancestor(d, a) == &a);
    CHECK(effective_priority(0, b, a) == 10);
    CHECK(effective_priority(1000, d, a) == 5);
    CHECK(effective_priority(20, d, fence) == 20); // compared inside c, its fence does not matter
    CHECK(effective_priority(15, d2, fence) == 15);
    CHECK(effective_priority(7, d, d) == 7);
    CHECK(effective_priority(INT32_MAX, b, a) == std::int64_t{INT32_MAX} + 10); // 64 bits, no clamp
}

TEST_CASE("EX-R7 R-031 P-006 who may preempt whom between queues of different offsets and fences") {
    const auto preempts = [](const std::string& ask_leaf, int ask, const std::string& victim_leaf, int victim) {
        const auto queue = [&ask_leaf](const std::string& name) {
            return "{name: " + name + (name == ask_leaf ? ", resources: {guaranteed: {memory: 1}}" : "");
        };
        Cluster c{"[{name: a, parent: true, queues: [" + queue("b") + ", properties: {priority.offset: '10'}}, " +
                  "{name: c, parent: true, properties: {priority.policy: fence, priority.offset: '5'}, queues: [" +
                  queue("d") + "}, " + queue("d2") + "}]}]}]"};
        const auto path = [](const std::string& leaf) { return (leaf == "b" ? "root.a." : "root.a.c.") + leaf; };
        c.nodes(1, "memory:1").application("v", path(victim_leaf)).application("x", path(ask_leaf));
        c.victim("v", "v", "memory:1", "n-0", 1, "prio=" + std::to_string(victim));
        c.ask("x", "x", "memory:1", "other=1 tags=creationTime:1000 prio=" + std::to_string(ask)).cycles(1);
        return c.preempted() == "v";
    };
    CHECK(preempts("b", 0, "d", 1000)); // 10 against 5, compared at a
    CHECK_FALSE(preempts("b", -6, "d", 1000));
    CHECK(preempts("d", 20, "d2", 15)); // compared at c
    CHECK_FALSE(preempts("d", 20, "d2", 21));
}

TEST_CASE("R-030 D-23 a fence in a fence: the outer one counts outside, the inner one between its neighbours") {
    Cluster c{
        "[{name: a, parent: true, properties: {priority.policy: fence, priority.offset: '3'}, queues: [{name: b, "
        "parent: true, properties: {priority.policy: fence, priority.offset: '50'}, queues: [{name: l}]}, {name: m, "
        "properties: {priority.offset: '7'}}]}, {name: o}]"};
    const Queue& root = queue_of(c, "root");
    const Queue& a = queue_of(c, "root.a");
    const Queue& l = queue_of(c, "root.a.b.l");
    CHECK(effective_priority(1000, l, root) == 3); // not 50, not 53
    CHECK(effective_priority(1000, l, a) == 50);   // seen beside root.a.m
    CHECK(effective_priority(1, queue_of(c, "root.a.m"), a) == 8);
    CHECK(effective_priority(1, queue_of(c, "root.a.m"), root) == 3);
    CHECK(&lowest_common_ancestor(l, queue_of(c, "root.o")) == &root);
}

} // namespace yk::testing
