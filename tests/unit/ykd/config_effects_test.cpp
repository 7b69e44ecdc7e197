#include "ykd/service/config_effects.h"

#include <catch2/catch.hpp>

#include "libcore/config_yaml/load.h"

using namespace yk;
using namespace yk::service;

namespace {

config::Configuration with_queues(const std::string& queues) {
    const auto outcome = config_yaml::load("partitions: [{queues: [" + queues + "]}]", "config");
    REQUIRE(outcome.configuration);
    return *outcome.configuration;
}

QueueMetrics queue(const std::string& path, bool leaf) {
    QueueMetrics metrics;
    metrics.path = path;
    metrics.leaf = leaf;
    return metrics;
}

/// `kind text` of each change.
std::vector<std::string> changes(const std::string& before, const std::string& now, RunningPartition running) {
    running.name = "default";
    running.metrics.resource_names = {"vcore"};
    std::vector<std::string> lines;
    for (const auto& one : changes_value(with_queues(before), with_queues(now), {running}))
        lines.push_back(one["kind"].get<std::string>() + ": " + one["text"].get<std::string>());
    return lines;
}

} // namespace

TEST_CASE("B-06 a queue above its new maximum, and above its new number of applications") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.a", true)};
    running.metrics.queues[1].allocated = {{0, 5000}};
    running.metrics.queues[1].running = 3;
    const auto found = changes("{name: a}", "{name: a, resources: {max: {vcore: 4}}, maxapplications: 2}", running);
    REQUIRE(found.size() == 4);
    CHECK(found[2] == "over-max: default root.a: {vcore: 5} are allocated, above the new maximum {vcore: 4}: "
                      "nothing is taken away, and nothing is added until it is below");
    CHECK(found[3] == "over-maxapplications: default root.a: 3 applications run, above the new maximum 2: they go on, "
                      "and no other starts until there are fewer");
    running.metrics.queues[1].allocated = {{0, 4000}};
    running.metrics.queues[1].running = 2;
    CHECK(changes("{name: a}", "{name: a, resources: {max: {vcore: 4}}, maxapplications: 2}", running).size() == 2);
}

TEST_CASE("B-06 C-435 type changes that are refused, each one") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.a", true), queue("root.b", false),
                              queue("root.b.x", true)};
    running.metrics.queues[1].applications = 1;
    const auto found =
        changes("{name: a}, {name: b, queues: [{name: x}]}", "{name: a, parent: true}, {name: b}", running);
    CHECK(std::count(found.begin(), found.end(),
                     "refused: default root.a: it has 1 application, it cannot become a parent") == 1);
    CHECK(std::count(found.begin(), found.end(),
                     "refused: default root.b: it has child queues, it cannot become a leaf") == 1);
}

TEST_CASE("B-06 applications in a queue that drains") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.a", true), queue("root.b", true)};
    running.metrics.queues[2].applications = 2;
    const auto found = changes("{name: a}, {name: b}", "{name: a}", running);
    REQUIRE(found.size() == 2);
    CHECK(found[1] ==
          "draining-applications: default root.b: 2 applications, which go on; the queue goes when the last has ended");
}

TEST_CASE("B-06 C-436 what goes with a partition") {
    const auto load = [](const std::string& text) { return *config_yaml::load(text, "config").configuration; };
    RunningPartition gpu{"gpu", {}, {}, {}};
    gpu.metrics.queues = {queue("root", false), queue("root.a", true)};
    gpu.metrics.queues[1].applications = 1;
    gpu.metrics.nodes_open = 2;
    gpu.metrics.allocations = 7;
    const auto found =
        changes_value(load("partitions: [{queues: [{name: a}]}, {name: gpu, queues: [{name: a}]}]"),
                      load("partitions: [{queues: [{name: a}]}]"), {RunningPartition{"default", {}, {}, {}}, gpu});
    REQUIRE(found.size() == 2);
    CHECK(found[1]["kind"] == "partition-content");
    CHECK(found[1]["text"] == "gpu: 2 nodes, 1 application and 7 allocations go with it at once");
}

TEST_CASE("B-06 users and groups over a new limit, with their applications") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.a", true)};
    UsageView kim;
    kim.name = "kim";
    kim.root = {"root", {{"vcore", 5000}}, {"app-1", "app-2"}, {}, 0, {}};
    kim.root.children.push_back({"root.a", {{"vcore", 5000}}, {"app-1", "app-2"}, {}, 0, {}});
    UsageView lee = kim;
    lee.name = "lee";
    running.users.views = {kim, lee};
    UsageView dev = kim;
    dev.name = "dev";
    running.groups.views = {dev};
    const auto found =
        changes("{name: a}",
                "{name: a, limits: [{limit: x, users: [kim], maxresources: {vcore: 4}}, {limit: y, users: "
                "['*'], maxapplications: 1}, {limit: z, groups: [dev], maxresources: {vcore: 5}}]}",
                running);
    REQUIRE(found.size() == 3);
    CHECK(found[1] == "over-limit: default root.a: user kim has {vcore: 5}, above the new limit {vcore: 4}; "
                      "applications: app-1, app-2");
    CHECK(found[2] == "over-limit: default root.a: user lee runs 2 applications, above the new limit 1: app-1, app-2");
}
