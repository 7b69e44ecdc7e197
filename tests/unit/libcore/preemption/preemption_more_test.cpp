// SPDX-License-Identifier: Apache-2.0
// preemption-gang-priority.md section 5: what is done better than in the original.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/explain.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kOther = "other=1 tags=creationTime:1000"; // old enough for any delay

/// Leaf c2 with a guarantee and `properties` for application `x`, leaf c1 without for `v`.
Cluster starved(const std::string& guaranteed, const std::string& properties = {}) {
    Cluster c{fmt::format("[{{name: c2, resources: {{guaranteed: {{{}}}}}, properties: {{{}}}}}, {{name: c1}}]",
                          guaranteed, properties)};
    c.application("x", "root.c2").application("v", "root.c1");
    return c;
}

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

TEST_CASE("P section 5 no. 5: a release that is not confirmed within 5 min is announced once more, and only once") {
    Cluster c = starved("memory: 4");
    c.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    REQUIRE(c.preempted() == "v");
    c.notices();
    (void)c.ask_events();
    c.advance(minutes{5} - seconds{1});
    CHECK(c.notices() == Lines{});
    c.advance(seconds{1});
    CHECK(c.notices() == Lines{"released v/v: PREEMPTED_BY_SCHEDULER"});
    CHECK(c.core().counters().reannounced == 1);
    const Lines events = c.ask_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].find("has not confirmed its release") != std::string::npos);
    c.advance(minutes{30});
    CHECK(c.notices() == Lines{});
    CHECK(c.core().counters().reannounced == 1);
}

TEST_CASE("P section 5 no. 5: what is confirmed, and a key that is used again, is not announced again; 0 is never") {
    Cluster c = starved("memory: 4");
    c.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    c.release("v", "v", 3).cycles(2);
    c.victim("v", "v", "memory:0,vcore:1", "n-0", 1).notices();
    c.advance(minutes{10});
    CHECK(c.core().counters().reannounced == 0);
    Settings never = Cluster::manual_settings();
    never.release_confirm = {};
    Cluster d{"[{name: c2, resources: {guaranteed: {memory: 4}}}, {name: c1}]", {}, {}, never};
    d.application("x", "root.c2").application("v", "root.c1");
    d.nodes(1, "memory:4").victim("v", "v", "memory:4", "n-0", 1).ask("x", "k", "memory:4", kOther).cycles(1);
    d.advance(minutes{60});
    CHECK(d.core().counters().reannounced == 0);
}

TEST_CASE("P section 5 no. 5: placeholders that time out or are replaced are announced again, too") {
    Cluster c{"[{name: a}]"};
    c.nodes(1, "memory:9");
    c.play("apps new id=g queue=root.a user=u gang=memory:2 timeout=1000");
    c.ask("g", "p", "memory:2", "placeholder=1 group=g").cycles(1);
    c.ask("g", "r", "memory:2", "group=g").cycles(1);
    c.notices();
    c.advance(minutes{5});
    CHECK(c.notices() == Lines{"released g/p: PLACEHOLDER_REPLACED"});
}

TEST_CASE("P section 5 no. 6: the storm guard limits the victims per minute, the first decision always passes") {
    Cluster c = starved("memory: 9", "preemption.victims.perminute: 2");
    c.nodes(4, "memory:2");
    for (int i = 0; i < 8; ++i) c.victim("v", fmt::format("v{}", i), "memory:1", fmt::format("n-{}", i / 2), 1 + i);
    for (int i = 0; i < 4; ++i) c.ask("x", fmt::format("k{}", i), "memory:1", kOther);
    c.cycles(10);
    CHECK(c.preempted() == "v1 v3");
    CHECK(ask_of(c, "k2").last_preemption->result == "preemption victims per minute used up");
    c.advance(seconds{59}).cycles(3);
    CHECK(c.preempted() == "v1 v3");
    c.advance(seconds{20}).cycles(10);
    CHECK(c.preempted() == "v1 v3 v5 v7");
    CHECK(c.core().counters().victims == 4);
}

TEST_CASE("P section 5 no. 6: victims whose room the ask did not take are counted") {
    Cluster c = starved("memory: 8");
    c.nodes(2, "memory:4").victim("v", "v0", "memory:4", "n-0", 1).victim("v", "v1", "memory:4", "n-1", 2);
    c.ask("x", "k", "memory:4", kOther).cycles(1);
    REQUIRE(c.preempted() == "v0");
    c.release("v", "v0", 3).cycles(1);
    CHECK(c.node_of("x", "k") == "n-0");
    CHECK(c.core().counters().victims == 1);
    CHECK(c.core().counters().victims_unused == 0);
    c.ask("x", "l", "memory:4", kOther).cycles(1);
    REQUIRE(c.preempted() == "v1");
    c.release("x", "l").release("v", "v1", 3).cycles(1);
    CHECK(c.core().counters().victims == 2);
    CHECK(c.core().counters().victims_unused == 1);
}

TEST_CASE(
    "P section 5 no. 7: with preemption.leastharm the lower priorities, then the shorter run, decide among equals") {
    for (const bool on : {false, true}) {
        CAPTURE(on);
        Cluster c = starved("memory: 4", on ? "preemption.leastharm: enabled" : "");
        c.nodes(3, "memory:4").victim("v", "v0", "memory:4", "n-0", 1, "prio=5");
        c.victim("v", "v1", "memory:4", "n-1", 1, "prio=2").advance(seconds{5});
        c.victim("v", "v2", "memory:4", "n-2", 1, "prio=2");
        c.ask("x", "k", "memory:4", std::string{kOther} + " prio=9").cycles(1);
        CHECK(c.preempted() == (on ? "v2" : "v0"));
    }
}

TEST_CASE("P section 5 no. 8: with preemption.charge ask a victim larger than the guarantee may go") {
    for (const bool on : {false, true}) {
        CAPTURE(on);
        Cluster c = starved("memory: 2", on ? "preemption.charge: ask" : "");
        c.nodes(1, "memory:8").victim("v", "v", "memory:8", "n-0", 1);
        c.ask("x", "k", "memory:2", kOther).cycles(1);
        CHECK(c.preempted() == (on ? "v" : ""));
    }
}

TEST_CASE(
    "P section 5 no. 9: an ask with a required node makes its room in a full cluster, within the configured maxima") {
    for (const bool limited : {false, true}) {
        CAPTURE(limited);
        Cluster c{fmt::format("[{{name: d{}}}, {{name: a}}]", limited ? ", resources: {max: {memory: 1}}" : "")};
        c.nodes(2, "memory:4").application("v").application("d", "root.d");
        c.victim("v", "v0", "memory:4", "n-0", 1).victim("v", "v1", "memory:4", "n-1", 1);
        c.ask("d", "k", "memory:2", "tags=yunikorn.apache.org/requiredNode:n-1").cycles(3);
        CHECK(c.preempted() == (limited ? "" : "v1"));
        CHECK(c.reserved_on("n-1") == (limited ? "" : "k"));
        if (limited) continue;
        c.release("v", "v1", 3).cycles(1);
        CHECK(c.node_of("d", "k") == "n-1");
    }
}

TEST_CASE("P section 5 no. 10: with quota.preemption.rearm a queue still above its max is due again") {
    constexpr const char* kOn = "preemption: {quotapreemptionenabled: true}";
    const auto queues = [](int max, int guaranteed, const char* rearm) {
        return fmt::format("[{{name: p, parent: true, resources: {{guaranteed: {{memory: {}}}}}, queues: [{{name: q, "
                           "resources: {{max: {{memory: {}}}}}, properties: {{quota.preemption.delay: 2s, "
                           "quota.preemption.rearm: {}}}}}]}}]",
                           guaranteed, max, rearm);
    };
    for (const char* rearm : {"disabled", "enabled"}) {
        CAPTURE(rearm);
        Cluster c{queues(20, 18, rearm), "", kOn};
        c.nodes(1, "memory:100").application("q", "root.p.q");
        for (const int size : {5, 6, 9})
            c.victim("q", fmt::format("v{}", size), fmt::format("memory:{}", size), "n-0", 1);
        c.configure(queues(10, 18, rearm), "", kOn); // 10 too many, of which p may lose 2: nobody is as small
        c.advance(seconds{10});
        REQUIRE(c.queue("root.p.q").last_quota_run);
        CHECK(c.preempted() == "");
        c.configure(queues(10, 1, rearm), "", kOn); // now there are some, but no max changed
        c.advance(seconds{2});
        CHECK(c.preempted() == ""); // the delay begins again
        c.advance(seconds{2});
        CHECK(c.preempted() == (rearm[0] == 'e' ? "v5" : ""));
        if (rearm[0] != 'e') continue;
        c.advance(seconds{10}); // not before its victim is gone
        CHECK(c.preempted() == "v5");
        c.release("q", "v5", 3).advance(seconds{10});
        CHECK(c.preempted() == ""); // 5 too many, 6 would be more
    }
}

TEST_CASE("P section 5 no. 11: placeholders that do not add up to what was announced are told of, once") {
    const auto notices = [](Cluster& c) {
        int count = 0;
        for (const std::string& event : c.events())
            count += event.find("APP g") == 0 && event.find("NONE") != std::string::npos ? 1 : 0;
        return count;
    };
    Cluster more{"[{name: a}]"};
    more.nodes(1, "memory:9").play("apps new id=g queue=root.a user=u gang=memory:3 timeout=1000");
    (void)more.events();
    more.ask("g", "p0", "memory:2", "placeholder=1 group=g").cycles(1);
    CHECK(notices(more) == 0);
    more.ask("g", "p1", "memory:2", "placeholder=1 group=g")
        .ask("g", "p2", "memory:2", "placeholder=1 group=g")
        .cycles(3);
    CHECK(notices(more) == 1);
    Cluster fewer{"[{name: a}]"};
    fewer.nodes(1, "memory:9").play("apps new id=g queue=root.a user=u gang=memory:3 timeout=1000");
    fewer.ask("g", "p0", "memory:2", "placeholder=1 group=g").cycles(1);
    (void)fewer.events();
    fewer.advance(seconds{2}); // its time is over
    CHECK(notices(fewer) == 1);
    Cluster right{"[{name: a}]"};
    right.nodes(1, "memory:9").play("apps new id=g queue=root.a user=u gang=memory:4 timeout=1000");
    right.ask("g", "p0", "memory:2", "placeholder=1 group=g")
        .ask("g", "p1", "memory:2", "placeholder=1 group=g")
        .cycles(3);
    (void)right.events();
    right.advance(seconds{2});
    CHECK(notices(right) == 0);
}

TEST_CASE("P section 5 no. 12: with application.gang.order a second gang waits while the first is half placed") {
    for (const bool on : {false, true}) {
        CAPTURE(on);
        Cluster c{
            fmt::format("[{{name: a, properties: {{application.gang.order: {}}}}}]", on ? "enabled" : "disabled")};
        c.nodes(1, "memory:6");
        for (const char* app : {"g", "h"}) c.play(fmt::format("apps new id={} queue=root.a user=u gang=memory:4", app));
        c.ask("g", "g0", "memory:2", "placeholder=1 group=g").cycles(1);
        c.ask("h", "h0", "memory:2", "placeholder=1 group=h")
            .ask("h", "h1", "memory:2", "placeholder=1 group=h")
            .cycles(5);
        CHECK(c.allocations_of("h") == (on ? 0 : 2));
        if (on) {
            const Explanation why = explain_ask(*c.core().read("default"), "h", "h0", c.now());
            CHECK(why.verdict == "HELD");
            REQUIRE_FALSE(why.reasons.empty());
            CHECK(why.reasons[0].code == "GANG");
            CHECK(why.reasons[0].object == "h");
        }
        c.ask("g", "g1", "memory:2", "placeholder=1 group=g").cycles(5);
        CHECK(c.allocations_of("g") == (on ? 2 : 1));
        if (!on) continue;
        CHECK(c.state_of("g") == "Running"); // complete: it holds nobody back any more
        CHECK(c.allocations_of("h") == 1);
        c.release("g", "g0").release("g", "g1").cycles(3);
        CHECK(c.allocations_of("h") == 2);
    }
}

TEST_CASE("P section 5 no. 12: a gang that fits beside the first is not held back") {
    Cluster c{"[{name: a, properties: {application.gang.order: enabled}}]"};
    c.nodes(1, "memory:9");
    for (const char* app : {"g", "h"}) c.play(fmt::format("apps new id={} queue=root.a user=u gang=memory:4", app));
    c.ask("g", "g0", "memory:2", "placeholder=1 group=g").cycles(1);
    c.ask("h", "h0", "memory:2", "placeholder=1 group=h").cycles(2);
    CHECK(c.allocations_of("h") == 1);
}

TEST_CASE("P section 5 no. 13: asks of applications that fail or have ended are refused with a reason") {
    Cluster c{"[{name: a}]"};
    c.nodes(1, "memory:9").application("done");
    c.ask("done", "k", "memory:1").cycles(1);
    c.release("done", "k").advance(minutes{1});
    REQUIRE(c.log_of("done") == "Accepted Running Completing Completed");
    c.notices();
    c.play("alloc ask app=done key=late res=memory:1");
    const auto notices = c.notices_in_full();
    REQUIRE(notices.size() == 1);
    CHECK(notices[0].find("failed to find application done") != std::string::npos);
}

TEST_CASE("P section 5 no. 14: the same input gives the same victims, whatever was freed and made before") {
    std::string first;
    for (const int round : {0, 1}) {
        Cluster c = starved("memory: 8");
        c.nodes(3, "memory:4");
        if (round == 1) { // ids are used again in another order
            c.victim("v", "old0", "memory:1", "n-0", 1).victim("v", "old1", "memory:1", "n-1", 1);
            c.release("v", "old0").release("v", "old1");
        }
        for (int i = 0; i < 6; ++i) c.victim("v", fmt::format("v{}", i), "memory:2", fmt::format("n-{}", i % 3), 1);
        c.ask("x", "k", "memory:4", kOther).ask("x", "l", "memory:4", kOther).cycles(5);
        if (round == 0) first = c.preempted();
        CHECK(c.preempted() == first);
    }
    CHECK(first == "v0 v1 v3 v4");
}

} // namespace yk::testing
