// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/deployment_apply.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

using namespace yk;
using namespace yk::cli;

namespace {

std::vector<WantedDeployment> read(const std::string& text) {
    auto all = read_deployments(text, "web.yaml");
    INFO((all.ok() ? std::string{} : all.error().message));
    REQUIRE(all.ok());
    return std::move(all).value();
}

std::string fault(const std::string& text) {
    const auto all = read_deployments(text, "web.yaml");
    return all.ok() ? "good" : all.error().message;
}

/// As McsRead describes it.
wire::Value described() {
    return {{"id", "01"},
            {"name", "web"},
            {"uid", "u1"},
            {"version", 3},
            {"generation", 2},
            {"partition", "default"},
            {"queue", "root.a"},
            {"user", "ann"},
            {"groups", {"staff", "ops"}},
            {"resource", {{"vcore", 500}, {"memory", 1024}}},
            {"minReplicas", 0},
            {"maxReplicas", 10},
            {"priority", -2},
            {"tags", {{"team", "a=b"}}},
            {"paused", false},
            {"deleteMode", "cascade"},
            {"createdMs", 5},
            {"updatedMs", 6},
            {"replicas", 3},
            {"policy", "{}"},
            {"scale", {{"desired", 3}, {"conditions", wire::Value::array()}}},
            {"schedule", {{"placed", 2}}}};
}

std::string changes(const std::string& text, const wire::Value& item = described()) {
    std::string lines;
    for (const auto& each : changes_of(item, read(text).front()))
        lines += fmt::format("{}: {} -> {}\n", each.field, each.from, each.to);
    return lines;
}

} // namespace

TEST_CASE("rs R-157 what show and list print is read back, and nothing of it differs") {
    const std::string line = described().dump();
    CHECK(changes(line).empty());
    CHECK(changes(described().dump(2)).empty()); // YAML has JSON in it
    CHECK(changes(R"({"items":[)" + line + "]}").empty());
    CHECK(changes("[" + line + "]").empty());
    CHECK(changes(R"({"item":)" + line + "}").empty());
    CHECK(changes(R"({"schema":1,"item":)" + line + "}").empty()); // as -o json prints it
    CHECK(read(line + "\n" + R"({"id":"02","name":"api"})").size() == 2);
    CHECK(read("name: a\n---\nname: b\n").size() == 2);
    CHECK(read(line).front().id == "01");
}

TEST_CASE("rs R-157 what a file does not name stays as it is, and what differs is said from what to what") {
    CHECK(changes("name: web\n").empty());
    CHECK(changes("{name: web, replicas: 5, queue: root.b, priority: 0, paused: true}") ==
          "queue: root.a -> root.b\nreplicas: 3 -> 5\npriority: -2 -> 0\npaused: false -> true\n");
    CHECK(changes("{name: web, resource: {vcore: 500, memory: 2048}}") ==
          "resource: {memory: 1Ki, vcore: 500m} -> {memory: 2Ki, vcore: 500m}\n");
    CHECK(changes("{name: web, resource: {memory: 1024, vcore: 500, gpu: 0}}").empty()); // in any order; 0 is nothing
    CHECK(changes("{name: web, groups: [ops]}") == "groups: staff,ops -> ops\n");
    CHECK(changes("{name: web, tags: {}}") == "tags: {team: a=b} -> {}\n");
    CHECK(
        changes("{name: web, minReplicas: 1, maxReplicas: 9, deleteMode: orphan, user: bob, partition: p}") ==
        "partition: default -> p\nuser: ann -> bob\nminReplicas: 0 -> 1\nmaxReplicas: 10 -> 9\ndeleteMode: cascade -> "
        "orphan\n");
}

TEST_CASE("rs R-157 a policy is compared by what it says, and takes the place of a number") {
    constexpr const char* kPolicy = R"({"metrics":[{"name":"load","target":70000,"type":"average"}]})";
    const std::string as_tree = "name: web\npolicy:\n  metrics:\n    - {name: load, type: average, target: 70000, "
                                "source: push, maxAgeSeconds: 90}\n";
    CHECK(changes(as_tree) == fmt::format("replicas: 3 -> by the policy\npolicy: {{}} -> {}\n", kPolicy));
    wire::Value decided = described();
    decided.erase("replicas");
    decided["policy"] = kPolicy;
    CHECK(changes(as_tree, decided).empty());
    CHECK(changes(decided.dump(), decided).empty());
    CHECK(changes("{name: web, replicas: 2}", decided) == "replicas: by the policy -> 2\n");
    CHECK(changes("{name: web, policy: {}}", decided) == fmt::format("policy: {} -> {{}}\n", kPolicy));
}

TEST_CASE("rs R-157 limits alone are no policy, neither for ykd nor in a file") {
    constexpr const char* kLimits = "{name: web, policy: {up: {windowSeconds: 60}, down: {select: disabled}}}";
    CHECK(changes(kLimits).empty());
    CHECK(read(kLimits).front().body.policy == "{}");
}

TEST_CASE("rs R-157 an id in a file says which deployment is meant, and a name that is another one's is refused") {
    const auto mismatch = [](const std::string& text) { return mismatch_of(described(), read(text).front()); };
    CHECK(mismatch("name: web").empty());
    CHECK(mismatch("{name: web, id: '01'}").empty());
    CHECK(mismatch("{name: web, id: '02'}") ==
          "the name web belongs to the deployment with the id 01, and not 02; leave the id out to mean that one");
    CHECK(mismatch("{name: api, id: '01'}") ==
          "the id 01 belongs to the deployment web, whose name stays as it was created");
}

TEST_CASE("rs R-157 a file that was made of an older state says so") {
    const auto staleness = [](const std::string& text) { return staleness_of(described(), read(text).front()); };
    CHECK(staleness("name: web").empty());
    CHECK(staleness("{name: web, version: 3}").empty());
    CHECK(staleness("{name: web, version: 3, uid: u1}").empty());
    CHECK(staleness("{name: web, version: 2}") ==
          "it is at version 3, and the file is of version 2: somebody changed it since");
    CHECK(staleness("{name: web, version: 3, uid: u0}") ==
          "the file is of one that was deleted (uid u0), and this is another (uid u1)");
    CHECK(fault("{name: web, version: -1}") == "web.yaml: deployment web: version is out of range");
}

TEST_CASE("rs R-157 a file is read strictly") {
    CHECK(fault("name: web\nreplica: 3\n").find("web.yaml:2:1: unknown field 'replica' in Deployment") == 0);
    CHECK(fault("name: web\nreplicas: many\n").find("web.yaml:2:11: replicas: 'many' is not a whole number") == 0);
    CHECK(fault("replicas: 3\n") == "web.yaml:1:1: Deployment lacks name");
    CHECK(fault("name: web\n---\nname: ''\n") == "web.yaml:3:7: name is empty");
    CHECK(fault("name: web\n---\nname:\n") == "web.yaml:3:1: Deployment lacks name");
    CHECK(fault("name: web\nname: api\n").find("web.yaml:2:1: name is given twice") == 0);
    CHECK(fault("name: web\ntags: [a]\n").find("web.yaml:2:7: tags must be a map of texts") == 0);
    CHECK(fault("name: web\n---\nname: web\n") == "web.yaml: deployment web: it is there twice");
    CHECK(fault("{name: web, replicas: -1}") == "web.yaml: deployment web: replicas is out of range");
    CHECK(fault("{name: web, priority: 3000000000}") == "web.yaml: deployment web: priority is out of range");
    CHECK(fault("{name: web, policy: {metrics: [{name: a, type: average, target: 0}]}}")
              .find("web.yaml: deployment web: policy.metrics[0].target must be a whole number from 1") == 0);
    CHECK(fault("{name: web, policy: {metrics: {a: 1, a: 2}}}").find("a is given twice") != std::string::npos);
    CHECK(fault("just text") != "good");
    CHECK(fault("# nothing\n") == "good"); // apply says that there is none
}
