// SPDX-License-Identifier: Apache-2.0
// B-01, I-354: what a path of the configuration names, and where it stands.

#include "libcore/config_yaml/locations.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

using namespace yk::config_yaml;

namespace {

constexpr const char* kText = R"(partitions:
  - name: default
    nodesortpolicy:
      type: binpacking
    queues:
      - name: ROOT
        submitacl: '*'
        queues:
          - name: Prod
            resources:
              max: {vcore: 8, nvidia.com/gpu: 2}
            properties:
              application.sort.policy: fair
            limits:
              - users: [bob]
                maxapplications: 3
            queues:
              - name: web
          - name: team
            parent: true
  - name: gpu
    limits:
      - users: ['*']
        maxapplications: 7
    queues:
      - name: a
      - name: b
        maxapplications: 4
)";

std::string find(const std::string& path, std::size_t partition = 0, const std::string& running = {}) {
    yk::config::Report report;
    const NodePtr root = parse_tree(kText, report);
    const auto place = find_location(root, path, partition, running);
    if (!place.ok()) return "! " + place.error().message;
    const std::string value = place->value == nullptr                    ? "-"
                              : place->value->kind == Node::Kind::Scalar ? place->value->scalar
                                                                         : fmt::format("({})", place->value->nodes);
    return fmt::format("{}:{} {} | {} | {} | {}", place->mark.line, place->mark.column, value, place->path,
                       place->queue, place->key);
}

} // namespace

TEST_CASE("B-01 I-354 a path as problems print it is found, with its line and column") {
    CHECK(find("partitions[0].queues[0].queues[0].resources.max.vcore") ==
          "11:28 8 | partitions[0].queues[0].queues[0].resources.max.vcore | root.prod | resources.max.vcore");
    CHECK(find("partitions[0].nodesortpolicy.type") ==
          "4:13 binpacking | partitions[0].nodesortpolicy.type |  | nodesortpolicy.type");
    CHECK(find("partitions[1].queues[1].maxapplications") ==
          "28:26 4 | partitions[1].queues[1].maxapplications | root.b | maxapplications"); // C-042: root is put above
    CHECK(find("partitions[0].queues[0].submitacl") == "7:20 * | partitions[0].queues[0].submitacl | root | submitacl");
    CHECK(find("nodesortpolicy.type") == find("partitions[0].nodesortpolicy.type"));
}

TEST_CASE("I-354 a queue and a key of it, in any case of the queue") {
    CHECK(find("root.prod.resources.max.vcore") == find("partitions[0].queues[0].queues[0].resources.max.vcore"));
    CHECK(find("root.PROD.resources.max.vcore") == find("root.prod.resources.max.vcore"));
    CHECK(find("root.submitacl") == find("partitions[0].queues[0].submitacl"));
    CHECK(find("root.prod.properties.application.sort.policy") ==
          "13:40 fair | partitions[0].queues[0].queues[0].properties.application.sort.policy | root.prod | "
          "properties.application.sort.policy");
    CHECK(find("root.prod.resources.max.nvidia.com/gpu").find("11:47 2 |") == 0);
    CHECK(find("root.prod.limits[0].maxapplications").find("16:34 3 |") == 0);
    CHECK(find("root.prod.limits[0].users[0]").find("15:25 bob |") == 0);
    CHECK(find("root.prod.web").find("| partitions[0].queues[0].queues[0].queues[0] | root.prod.web | ") !=
          std::string::npos);
    CHECK(find("root.b.maxapplications", 1) == find("partitions[1].queues[1].maxapplications"));
}

TEST_CASE("I-354 what is not written, but could be") {
    CHECK(find("root.prod.web.submitacl") ==
          "0:0 - | partitions[0].queues[0].queues[0].queues[0].submitacl | root.prod.web | submitacl");
    CHECK(find("root.prod.resources.guaranteed.vcore").find("0:0 - |") == 0);
    CHECK(find("partitions[0].preemption.enabled") ==
          "0:0 - | partitions[0].preemption.enabled |  | preemption.enabled");
    CHECK(find("root.submitacl", 1) == "0:0 - |  | root | submitacl"); // the root that is put above has no place
    CHECK(find("root.limits[0].maxapplications", 1) ==
          "24:26 7 | partitions[1].limits[0].maxapplications | root | limits[0].maxapplications");
    CHECK(find("root.team.bob.resources.max.vcore", 0, "root.team.bob") ==
          "0:0 - |  | root.team.bob | resources.max.vcore"); // a rule made it
}

TEST_CASE("B-05 I-354 what is no key: the nearest one, what belongs there, how far lists go") {
    CHECK(find("root.prod.submitAcl") ==
          "! queue root.prod has no queue and no key \"submitAcl\", did you mean \"submitacl\"?");
    CHECK(find("root.prdo.submitacl") == "! queue root has no queue and no key \"prdo\", did you mean \"prod\"?");
    CHECK(find("root.prod.resources.maxx.vcore") ==
          "! partitions[0].queues[0].queues[0].resources: unknown key \"maxx\" "
          "in resources, did you mean \"max\"?");
    CHECK(find("partitions[0].queue") ==
          "! partitions[0]: unknown key \"queue\" in partition, did you mean \"queues\"?");
    CHECK(find("partitions[2]") == "! partitions has 2 entries, counted from 0");
    CHECK(find("partitions.default") == "! partitions is a list; after it comes [0] or another number");
    CHECK(find("root.prod.submitacl.x").find("holds one value") != std::string::npos);
    CHECK(find("root.").find("after it comes .KEY") != std::string::npos);
    CHECK(find("root.prod.resources[0]").find("is no list") != std::string::npos);
    for (const char* path :
         {"partitions[", "partitions[x]", "partitions[0", "partitions[0].", "partitions[99999999999999999999]",
          "root[0]", "root..a", "root.prod.limits[0", "partitions[0]queues", "limits[0]"})
        CHECK(find(path).substr(0, 1) == "!");
}

TEST_CASE("I-354 which paths are of the queue configuration") {
    for (const char* path :
         {"root", "root.a.submitacl", "partitions[0]", "placementrules[0].create", "preemption.enabled"})
        CHECK(is_location(path));
    for (const char* path : {"log.level", "service.placeholderTimeout", "", "rooot.a", "event.maxStreams"})
        CHECK_FALSE(is_location(path));
}
