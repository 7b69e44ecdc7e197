// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "libcore/model/application_state.h"
#include "libcore/reports/metrics.h"
#include "tests/support/cluster.h"

using namespace yk;
using namespace yk::testing;

namespace {

QueueMetrics metrics_of(const PartitionMetrics& all, const std::string& path) {
    const auto found = std::find_if(all.queues.begin(), all.queues.end(),
                                    [&](const QueueMetrics& queue) { return queue.path == path; });
    REQUIRE(found != all.queues.end());
    return *found;
}

const PartitionMetrics::Bands& usage_of(const PartitionMetrics& all, const std::string& type) {
    const auto found = std::find(all.resource_names.begin(), all.resource_names.end(), type);
    REQUIRE(found != all.resource_names.end());
    return all.node_usage.at(static_cast<std::size_t>(found - all.resource_names.begin()));
}

std::uint64_t in_state(const QueueMetrics& queue, ApplicationState state) {
    return queue.states[static_cast<std::size_t>(state)];
}

std::map<std::string, std::int64_t> named(const PartitionMetrics& all, const MetricAmounts& amounts) {
    std::map<std::string, std::int64_t> map;
    for (const auto& [id, value] : amounts) map[all.resource_names[id]] = value;
    return map;
}

} // namespace

TEST_CASE("I-516 numbers of queues, applications and nodes as they are") {
    Cluster c{"[{name: a, maxapplications: 4, resources: {max: {vcore: 20m}, guaranteed: {vcore: 5m}}}, {name: b}]"};
    c.nodes(2, "vcore:8").application("one").application("two").asks("one", 3, "vcore:4").cycles(3);
    c.release("one", "one-0");
    const PartitionMetrics all = partition_metrics(*c.core().read("default"));
    CHECK(all.queues.size() == 3);
    const QueueMetrics a = metrics_of(all, "root.a");
    CHECK(a.leaf);
    CHECK(a.max_applications == 4);
    CHECK(a.running == 1);
    CHECK(a.applications == 2);
    CHECK(a.placed == 3);
    CHECK(a.released == 1);
    CHECK(in_state(a, ApplicationState::Running) == 1);
    CHECK(in_state(a, ApplicationState::New) == 1);
    CHECK(named(all, a.allocated) == std::map<std::string, std::int64_t>{{"vcore", 8}});
    CHECK(named(all, *a.guaranteed) == std::map<std::string, std::int64_t>{{"vcore", 5}});
    CHECK(named(all, *a.max) == std::map<std::string, std::int64_t>{{"vcore", 20}});
    CHECK_FALSE(metrics_of(all, "root.b").max);
    CHECK(all.nodes_open == 2);
    CHECK(all.allocations == 2);
    const auto& bands = usage_of(all, "vcore");
    CHECK(bands[4] == 2); // (40%,50%]
}

TEST_CASE("I-510 ended applications count on their queue, refused ones on the queue they name if it exists") {
    Cluster c{"[{name: a}, {name: b}]"};
    c.nodes(1, "vcore:8").application("one").asks("one", 1, "vcore:4").cycles(1);
    c.application("lost", "root.nowhere").application("one", "root.b");
    c.release("one", "one-0");
    c.advance(std::chrono::seconds{31}); // the timer of Completing fires (S-152)
    const PartitionMetrics all = partition_metrics(*c.core().read("default"));
    CHECK(all.ended.at("root.a").completed + all.ended.at("root.a").failed == 1);
    CHECK(all.ended.at("").rejected == 1);
    CHECK(all.ended.at("root.b").rejected == 1);
    CHECK(all.rejected_by_none == 1);
    CHECK(in_state(metrics_of(all, "root.b"), ApplicationState::Rejected) == 1);
    CHECK(c.core().counters().submitted == 3);
    CHECK(c.core().counters().refused == 2);
    CHECK(c.core().counters().accepted == 1);
}

TEST_CASE("I-500 nodes by state and how full they are; over-allocated ones are in the last band") {
    Cluster c;
    c.nodes(3, "vcore:10").node("n-1", "vcore:10", "drain").application("x").ask("x", "k", "vcore:1").cycles(1);
    const std::string used = c.node_of("x", "k");
    c.node(used, "vcore:1", "update");
    PartitionMetrics all = partition_metrics(*c.core().read("default"));
    CHECK(all.nodes_open == 2);
    CHECK(all.nodes_draining == 1);
    CHECK(usage_of(all, "vcore")[9] == 1);
    CHECK(usage_of(all, "vcore")[0] == 2);
    c.node("n-1", "vcore:10", "decommission");
    CHECK(c.core().counters().nodes_removed == 1);
}
