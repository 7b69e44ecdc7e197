// SPDX-License-Identifier: Apache-2.0
// One run of quota preemption: when it is due, what it marks and announces, and what it leaves due (P-103, P-111,
// P-112, section 5 no. 10).

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

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

} // namespace yk::testing
