// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/config_effects.h"

#include <catch2/catch.hpp>

#include <sstream>

#include "libcore/config_yaml/load.h"
#include "ykd/configuration/limit_effects.h"

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

/// `ID QUEUE USER GROUPS GROUP`, `-` standing for none, that runs with so many thousandths of a core.
ChargedApplicationView pluralize(const std::string& text, std::int64_t vcore) {
    ChargedApplicationView application;
    std::istringstream words{text};
    std::string groups;
    words >> application.id >> application.queue >> application.user >> groups >> application.group;
    if (application.group == "-") application.group.clear();
    std::istringstream names{groups == "-" ? "" : groups};
    for (std::string name; std::getline(names, name, ',');) application.groups.push_back(name);
    application.usage = {{"vcore", vcore}};
    application.running = true;
    return application;
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

TEST_CASE("B-10 B-06 dynamic queues that a template changes, and what is above its maxima then") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.d", false), queue("root.d.x", true)};
    running.metrics.queues[2].allocated = {{0, 5000}};
    running.metrics.queues[2].running = 3;
    ReappliedView parent{"root.d", "root", {}, {}}, leaf{"root.d.x", "root", {}, {}};
    leaf.before.resources.guaranteed = config::ResourceMap{{"vcore", 1000}};
    leaf.before.properties = {{"k", "v"}, {"gone", "1"}};
    leaf.after.resources.max = config::ResourceMap{{"vcore", 4000}};
    leaf.after.max_applications = 2;
    leaf.after.properties = {{"k", "w"}};
    running.reapplied = {parent, leaf};
    CHECK(
        changes("", "", running) ==
        std::vector<std::string>{
            "max: default root.d.x: max not set -> {vcore: 4}, by the childtemplate of root",
            "guaranteed: default root.d.x: guaranteed {vcore: 1} -> not set, by the childtemplate of root",
            "maxapplications: default root.d.x: maxapplications not set -> 2, by the childtemplate of root",
            "property: default root.d.x gone: property \"1\" -> not set, by the childtemplate of root",
            "property: default root.d.x k: property \"v\" -> \"w\", by the childtemplate of root",
            "over-max: default root.d.x: {vcore: 5} are allocated, above the new maximum {vcore: 4}: nothing is taken "
            "away, and nothing is added until it is below",
            "over-maxapplications: default root.d.x: 3 applications run, above the new maximum 2: they go on, and no "
            "other starts until there are fewer"});
}

TEST_CASE("B-06 C-435 type changes that are refused, each one") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.a", true), queue("root.b", false),
                              queue("root.b.x", true)};
    running.metrics.queues[1].applications = 1;
    const std::string before = "{name: a}, {name: b, queues: [{name: x}]}",
                      after = "{name: a, parent: true}, {name: b}";
    const auto unused = changes(before, after, running); // root.b.x goes at once
    CHECK(std::count_if(unused.begin(), unused.end(),
                        [](const std::string& one) { return one.rfind("refused: ", 0) == 0; }) == 1);
    running.metrics.queues[3].applications = 1;
    const auto found = changes(before, after, running);
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
    running.applications = {pluralize("app-2 root.a kim dev dev", 3000), pluralize("app-1 root.a kim dev dev", 2000),
                            pluralize("app-3 root.a lee - -", 2000), pluralize("app-4 root.a lee - -", 3000)};
    const std::string before = "{name: a, limits: [{limit: z, groups: [dev], maxresources: {vcore: 9}}]}";
    const auto found =
        changes(before,
                "{name: a, limits: [{limit: x, users: [kim], maxresources: {vcore: 4}}, {limit: y, users: "
                "['*'], maxapplications: 1}, {limit: z, groups: [dev], maxresources: {vcore: 5}}]}",
                running);
    REQUIRE(found.size() == 3);
    CHECK(found[1] == "over-limit: default root.a: user kim has {vcore: 5}, above the new limit {vcore: 4}; "
                      "applications: app-1, app-2");
    CHECK(found[2] == "over-limit: default root.a: user lee runs 2 applications, above the new limit 1: app-3, app-4");
}

TEST_CASE("B-06 C-420 who was over a limit that stays is no change") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.a", true)};
    running.applications = {pluralize("app-1 root.a kim - -", 5000)};
    const std::string kim = "{limit: x, users: [kim], maxresources: {vcore: 4}}";
    CHECK(changes("{name: a, limits: [" + kim + "]}",
                  "{name: a, limits: [" + kim + ", {limit: y, users: [lee], maxapplications: 1}]}", running)
              .size() == 1);
}

TEST_CASE("B-06 C-403 the first limit of a group counts all that its members use") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.a", true)};
    running.applications = {pluralize("a1 root.a alice dev -", 5000), pluralize("b1 root.a bob ops,dev -", 4000),
                            pluralize("c1 root.a carol - -", 9000)};
    const auto found = changes(
        "{name: a}", "{name: a, limits: [{limit: x, groups: [dev], maxresources: {vcore: 3}, maxapplications: 1}]}",
        running);
    REQUIRE(found.size() == 4);
    CHECK(found[1] == "other-group: default: 2 applications count for group dev instead of no group: a1, b1");
    CHECK(found[2] == "over-limit: default root.a: group dev has {vcore: 9}, above the new limit {vcore: 3}; "
                      "applications: a1, b1");
    CHECK(found[3] == "over-limit: default root.a: group dev runs 2 applications, above the new limit 1: a1, b1");
}

TEST_CASE("B-06 C-404 C-405 C-423 another group is over a limit that stays, on every level") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.p", false), queue("root.p.a", true)};
    running.applications = {pluralize("a1 root.p.a alice dev,ops ops", 5000),
                            pluralize("b1 root.p.a bob dev dev", 4000), pluralize("c1 root.p.a carol web *", 1000)};
    const std::string p = "{name: p, limits: [{limit: x, groups: [dev], maxresources: {vcore: 6}}], queues: [";
    const std::string before = p + "{name: a, limits: [{limit: y, groups: [ops, '*'], maxapplications: 1}]}]}";
    const auto found = changes(before, p + "{name: a}]}", running);
    REQUIRE(found.size() == 4);
    CHECK(found[1] == "other-group: default: 1 application counts for no group instead of group *: c1");
    CHECK(found[2] == "other-group: default: 1 application counts for group dev instead of group ops: a1");
    CHECK(found[3] == "over-limit: default root.p: group dev has {vcore: 9}, above the limit {vcore: 6}; "
                      "applications: a1, b1");
}

TEST_CASE("B-06 of many applications a few are named") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.a", true)};
    for (int i = 10; i < 20; ++i)
        running.applications.push_back(pluralize("a" + std::to_string(i) + " root.a alice dev -", 1000));
    const auto found =
        changes("{name: a}", "{name: a, limits: [{limit: x, groups: [ops, '*'], maxapplications: 20}]}", running);
    REQUIRE(found.size() == 2);
    CHECK(found[1] == "other-group: default: 10 applications count for group * instead of no group: "
                      "a10, a11, a12, a13, a14 and 5 more");
}

TEST_CASE("B-06 C-242 C-433 queues that are there already: made by a rule, or draining") {
    RunningPartition running;
    running.metrics.queues = {queue("root", false), queue("root.b", true), queue("root.users", false),
                              queue("root.users.carol", true)};
    running.metrics.queues[3].managed = false;
    running.applications = {pluralize("app-1 root.users.carol carol - -", 6000),
                            pluralize("app-2 root.b lee - -", 2000)};
    const std::string users = "{name: users, parent: true, queues: [";
    const auto found = changes("{name: a}, " + users + "]}",
                               "{name: a}, " + users +
                                   "{name: Carol, limits: [{limit: x, users: [carol], maxresources: {vcore: 3}}]}]}, "
                                   "{name: b, limits: [{limit: y, users: ['*'], maxresources: {vcore: 1}}]}, {name: c}",
                               running);
    REQUIRE(found.size() == 5);
    CHECK(found[0] == "queue-managed: default root.users.carol: dynamic queue becomes managed, with the settings of "
                      "the file and all that is in it");
    CHECK(found[1] == "queue-active: default root.b: draining queue becomes active again, with the settings of the "
                      "file and all that is in it");
    CHECK(found[2] == "queue-added: default root.c: leaf queue is added");
    CHECK(found[3] == "over-limit: default root.users.carol: user carol has {vcore: 6}, above the new limit {vcore: "
                      "3}; applications: app-1");
    CHECK(found[4] == "over-limit: default root.b: user lee has {vcore: 2}, above the new limit {vcore: 1}; "
                      "applications: app-2");
}

TEST_CASE("B-06 C-420 only other limits make the applications interesting") {
    const auto same = [](const std::string& before, const std::string& now) {
        return !changes_limits(with_queues(before), with_queues(now));
    };
    const std::string limits = "limits: [{limit: x, groups: [dev, ops], maxapplications: 1}]}";
    CHECK(same("{name: a, " + limits, "{name: A, " + limits));
    CHECK(same("{name: a, " + limits, "{name: a, submitacl: '*', " + limits + ", {name: b}"));
    CHECK_FALSE(same("{name: a}", "{name: a}, {name: b, " + limits));
    CHECK_FALSE(same("{name: a, " + limits, "{name: a}"));
    CHECK_FALSE(same("{name: a, " + limits, "{name: a, limits: [{limit: x, groups: [ops, dev], maxapplications: 1}]}"));
}
