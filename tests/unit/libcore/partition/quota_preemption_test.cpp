// SPDX-License-Identifier: Apache-2.0
// When the timer of quota preemption is armed, moved and cleared (config.md section 15), and what plays no part in it:
// C-243, C-383, C-386, P-123, P-124, P-127; announcements of victims: P-098, P-131; what queues show: P-015.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/preemption/quota.h"
#include "tests/support/cluster.h"
#include "tests/unit/libcore/partition/amounts.h"

namespace yk::testing {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kOn = "preemption: {quotapreemptionenabled: true}";

std::string queue(const std::string& max, const std::string& delay, const std::string& more = {}) {
    return fmt::format("[{{name: q, resources: {{{}}}, properties: {{quota.preemption.delay: {}{}}}}}]",
                       max.empty() ? "" : "max: {memory: " + max + "}", delay, more);
}

/// Victims of 5, 6 and 9 in q, whose max is 20.
Cluster full(const std::string& delay, const std::string& more = {}) {
    Cluster c{queue("20", delay, more), "", kOn};
    c.nodes(1, "memory:1000,vcore:1000").application("q", "root.q");
    for (const int size : {5, 6, 9})
        c.victim("q", fmt::format("v{}", size), fmt::format("memory:{}", size), "n-0", 7200);
    return c;
}

void reload(Cluster& c, const std::string& max, const std::string& delay, const std::string& more = {}) {
    REQUIRE(c.configure(queue(max, delay, more), "", kOn) == "ok");
}

/// After the max fell to 10 with a delay of 5 s, and 1 s later changed to `max` and `delay`.
std::string taken_after_change(const std::string& max, const std::string& delay) {
    Cluster c = full("5s");
    reload(c, "10", "5s");
    c.advance(seconds{1});
    reload(c, max, delay);
    c.advance(seconds{60});
    return c.preempted();
}

} // namespace

TEST_CASE("C-383 what clears the timer: no delay, no max, usage within the max") {
    CHECK(taken_after_change("10", "5s") == "v5");
    CHECK(taken_after_change("10", "0s") == "");
    CHECK(taken_after_change("", "5s") == "");
    CHECK(taken_after_change("20", "5s") == "");
    CHECK(taken_after_change("15", "5s") == "v5"); // raised, but not enough: it stays armed
}

TEST_CASE("C-383 an unchanged max is armed when it gets a delay, counted from then on") {
    Cluster c = full("0s");
    reload(c, "10", "0s");
    c.advance(seconds{10});
    reload(c, "10", "4s");
    c.advance(seconds{3});
    CHECK(c.preempted() == "");
    c.advance(seconds{3});
    CHECK(c.preempted() == "v5");
}

TEST_CASE("C-243 C-386 a dynamic queue is never armed") {
    constexpr const char* queues = "[{{name: p, parent: true, childtemplate: {{resources: {{max: {{memory: {}}}}}, "
                                   "properties: {{quota.preemption.delay: 1s}}}}}}]";
    const std::string rules = std::string{"placementrules: [{name: provided, create: true}], "} + kOn;
    Cluster c{fmt::format(queues, 10), "", rules};
    c.nodes(1, "memory:100").application("q", "root.p.x");
    c.victim("q", "a", "memory:8", "n-0", 7200).victim("q", "b", "memory:4", "n-0", 7200).advance(minutes{1});
    CHECK(c.preempted() == "");
    REQUIRE(c.configure(fmt::format(queues, 5), "", rules) == "ok");
    c.advance(minutes{1});
    CHECK(c.preempted() == "");
}

TEST_CASE("C-386 the root is not armed by a reload, only by what the RM reports") {
    const std::string delay = "properties: {quota.preemption.delay: 1s}";
    Cluster c{"[{name: a}]", delay, kOn};
    c.nodes(1, "memory:10").application("q").victim("q", "big", "memory:8", "n-0", 7200);
    c.play("nodes update id=n-0 res=memory:5");
    REQUIRE(c.configure("[{name: a}, {name: b}]", delay, kOn) == "ok");
    c.advance(minutes{1});
    CHECK(c.preempted() == "");
    c.victim("q", "more", "memory:1", "n-0", 7200).advance(seconds{5});
    CHECK(c.preempted() == "more");
}

TEST_CASE("P-123 policy, delay, offset and fences play no part") {
    const std::string more = ", preemption.policy: disabled, preemption.delay: 1h, priority.policy: fence, "
                             "priority.offset: '1000'";
    Cluster c = full("2s", more);
    reload(c, "10", "2s", more);
    c.advance(seconds{5});
    CHECK(c.preempted() == "v5");
}

TEST_CASE("P-124 no required node, and a type in common; placeholders, too") {
    Cluster c{queue("20", "2s"), "", kOn};
    c.nodes(1, "memory:1000,vcore:1000").application("q", "root.q");
    c.existing("q", "bound", "memory:5", "n-0", "self=1 tags=yunikorn.apache.org/requiredNode:n-0");
    c.victim("q", "other", "vcore:1", "n-0", 7200);
    c.victim("q", "ph", "memory:4", "n-0", 7200, "placeholder=1 group=g");
    reload(c, "1", "2s");
    c.advance(seconds{5});
    CHECK(c.preempted() == "ph");
}

TEST_CASE("S-016 P-124 a victim shares a type with the target by name, whatever its amount") {
    Cluster c{queue("20", "2s"), "", kOn};
    c.nodes(1, "memory:1000,vcore:1000,gpu:10").application("q", "root.q");
    c.victim("q", "none", "gpu:1,vcore:2", "n-0", 1);
    c.victim("q", "zero", "gpu:1,memory:0", "n-0", 2).victim("q", "some", "memory:15", "n-0", 3);
    reload(c, "5", "2s");
    c.advance(seconds{5});
    CHECK(c.preempted() == "zero"); // what is above is 10: too little for `some`
}

TEST_CASE("S-015 geExisting of a max and what is used looks at the types of the max only") {
    struct Row {
        const char* max;
        const char* used;
        bool within;
    };
    for (const Row& row : {Row{"x:10", "x:10,y:5", true}, Row{"x:10", "x:5,y:99", true}, Row{"x:10", "y:10", true},
                           Row{"x:10,y:1", "x:5", true}, Row{"x:10", "", true}, Row{"x:10", "x:11", false},
                           Row{"x:10,y:5", "x:1,y:6", false}}) {
        INFO(row.max << " against " << row.used);
        CHECK(within_max(Limit{amounts(row.max)}, amounts(row.used)) == row.within);
    }
}

TEST_CASE("P-127 the victim's event and message name the queue, and it is told once") {
    Cluster c = full("2s");
    reload(c, "10", "2s");
    c.notices_in_full();
    c.ask_events();
    c.advance(seconds{30});
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 1);
    CHECK_THAT(notices[0], Catch::StartsWith("released q/v5: PREEMPTED_BY_SCHEDULER # ") &&
                               Catch::Contains("preempted by quota change in root.q"));
    const auto events = c.ask_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].find("preempted by quota change in root.q") != std::string::npos);
}

TEST_CASE("P-131 a victim is announced once, however often it is looked at") {
    Cluster c{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]"};
    c.nodes(1, "memory:4").application("x", "root.c2").application("v", "root.c1");
    c.victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", "other=1 tags=creationTime:1000").notices();
    for (int i = 0; i < 10; ++i) c.advance(seconds{29}).cycles(2); // after 5 min: section 5 no. 5
    CHECK(c.notices() == Lines{"released v/v: PREEMPTED_BY_SCHEDULER"});
}

TEST_CASE("P-098 S-605 victims of an ask with a required node: one message, and an event each that says by whom") {
    Cluster c{"[{name: a}, {name: b}]"};
    c.node("n-0", "memory:8").node("n-9", "memory:10").application("d", "root.a").application("v", "root.b");
    c.victim("v", "one", "memory:4", "n-0", 1).victim("v", "two", "memory:4", "n-0", 2);
    c.ask("d", "d", "memory:8", "tags=yunikorn.apache.org/requiredNode:n-0").cycles(1);
    c.notices_in_full();
    c.ask_events();
    c.cycles(1);
    CHECK(c.preempted() == "one two");
    CHECK(c.queue("root.b").preempting.at("memory") == 8);
    CHECK(c.app("d").asks.front().triggered_preemption);
    CHECK(c.reserved_on("n-0") == "d");
    CHECK(c.notices() == Lines{"released v/two: PREEMPTED_BY_SCHEDULER, v/one: PREEMPTED_BY_SCHEDULER"});
    int victims = 0;
    for (const std::string& event : c.ask_events())
        victims += event.find("Preempted by d from application d in root.a") != std::string::npos ? 1 : 0;
    CHECK(victims == 2);
}

TEST_CASE("P-015 a queue shows whether and how it takes part in preemption") {
    Cluster c{"[{name: p, properties: {preemption.policy: fence, preemption.delay: 5s, quota.preemption.delay: 7s}, "
              "queues: [{name: l}]}, {name: off, properties: {preemption.policy: disabled}}]"};
    const QueueView view = c.queue("root.p");
    CHECK(view.preemption_enabled);
    CHECK(view.preemption_fence);
    CHECK(view.preemption_delay == seconds{5});
    CHECK(view.quota_preemption_delay == seconds{7});
    CHECK(view.preempting.empty());
    CHECK_FALSE(c.queue("root.off").preemption_enabled);
    CHECK_FALSE(c.queue("root.off").preemption_fence);
}

TEST_CASE("P-015 P-011 P-012 what a queue shows is what it has from its parents, by default and after a reload") {
    const auto shown = [](const QueueView& view) {
        const auto whole = [](Duration d) { return std::chrono::duration_cast<seconds>(d).count(); };
        return fmt::format("{} {} {} {}", view.preemption_enabled ? "on" : "off", view.preemption_fence ? "fence" : "-",
                           whole(view.preemption_delay), whole(view.quota_preemption_delay));
    };
    constexpr const char* queues = "[{{name: p, properties: {{{}}}, queues: [{{name: l}}, {{name: m, properties: "
                                   "{{preemption.policy: default, preemption.delay: 1s}}}}]}}]";
    Cluster c{fmt::format(queues, "")};
    CHECK(shown(c.queue("root.p.l")) == "on - 30 0");
    REQUIRE(c.configure(fmt::format(queues, "preemption.policy: fence, preemption.delay: 5s, "
                                            "quota.preemption.delay: 7s")) == "ok");
    CHECK(shown(c.queue("root.p")) == "on fence 5 7");
    CHECK(shown(c.queue("root.p.l")) == "on - 5 7"); // a fence is not inherited
    CHECK(shown(c.queue("root.p.m")) == "on - 1 7");
    REQUIRE(c.configure(fmt::format(queues, "preemption.policy: disabled")) == "ok");
    CHECK(shown(c.queue("root.p")) == "off - 30 0");
    CHECK(shown(c.queue("root.p.l")) == "off - 30 0");
    CHECK(shown(c.queue("root.p.m")) == "on - 1 0");
}

TEST_CASE("P-015 P-130 what is being preempted shows from the victim's leaf up to root, until it is gone") {
    Cluster c{"[{name: x, resources: {guaranteed: {memory: 4}}}, {name: p, queues: [{name: v}, {name: w}]}]"};
    c.nodes(1, "memory:4,gpu:1").application("x", "root.x").application("v", "root.p.v").application("w", "root.p.w");
    c.victim("v", "v", "memory:1,gpu:1", "n-0", 2).victim("w", "w", "memory:3", "n-0", 1);
    c.ask("x", "k", "memory:4", "other=1 tags=creationTime:1000").cycles(1);
    REQUIRE(c.preempted() == "v w");
    using Amounts = ResourceMapView;
    CHECK(c.queue("root.p.v").preempting == Amounts{{"gpu", 1}, {"memory", 1}});
    CHECK(c.queue("root.p.w").preempting == Amounts{{"memory", 3}});
    CHECK(c.queue("root.p").preempting == Amounts{{"gpu", 1}, {"memory", 4}});
    CHECK(c.queue("root").preempting == Amounts{{"gpu", 1}, {"memory", 4}});
    CHECK(c.queue("root.x").preempting.empty());
    c.release("v", "v", 3);
    CHECK(c.queue("root.p.v").preempting.empty());
    CHECK(c.queue("root").preempting == Amounts{{"memory", 3}});
    c.release("w", "w", 3);
    for (const char* path : {"root", "root.p", "root.p.w"}) CHECK(c.queue(path).preempting.empty());
}

TEST_CASE("C-477 P-015 a queue shows its own policy, not the switch of the partition") {
    const Cluster c{
        "[{name: on}, {name: off, properties: {preemption.policy: disabled}}]", {}, "preemption: {enabled: false}"};
    CHECK_FALSE(c.partition().preemption_enabled);
    CHECK(c.queue("root.on").preemption_enabled);
    CHECK_FALSE(c.queue("root.off").preemption_enabled);
}

} // namespace yk::testing
