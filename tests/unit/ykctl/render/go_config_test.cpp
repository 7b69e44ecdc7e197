// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/go_config.h"

#include <catch2/catch.hpp>

#include "libcore/config_yaml/load.h"

namespace yk::cli {

namespace {

std::string shown(const std::string& text, const wire::Value& extra = wire::Value::object()) {
    auto outcome = config_yaml::load(text, "config");
    INFO(config_yaml::render(outcome, text));
    REQUIRE(outcome.configuration);
    outcome.configuration->checksum = "..";
    return go_configuration(*outcome.configuration, extra).dump();
}

} // namespace

TEST_CASE("C-474 the built-in configuration in the JSON form of the original, empty objects kept") {
    CHECK(shown(std::string{config_yaml::default_text()}) ==
          R"({"Partitions":[{"Name":"default","Queues":[{"Name":"root","Parent":true,"Resources":{},"SubmitACL":"*",)"
          R"("ChildTemplate":{"Resources":{}}}],"PlacementRules":[{"Name":"tag","Create":true,"Filter":{"Type":""},)"
          R"("Value":"namespace"}],"Preemption":{},"NodeSortPolicy":{"Type":""},"UserGroupResolver":{}}],)"
          R"("Checksum":"..","DeadlockDetectionEnabled":false,"DeadlockTimeoutSeconds":60})");
}

TEST_CASE("C-474 every key has its Go name; C-467 the keys of deadlock detection stay") {
    CHECK(shown(R"(
partitions:
  - name: gpu
    usergroupresolver: {type: os}
    nodesortpolicy: {type: binpacking, resourceweights: {vcore: 0.5}}
    preemption: {enabled: false, quotapreemptionenabled: true}
    placementrules:
      - {name: fixed, value: a, create: true, filter: {type: deny, users: [u, v], groups: [g]}, parent: {name: user}}
    queues:
      - name: root
        maxapplications: 9
        properties: {priority.offset: 10}
        adminacl: eve
        submitacl: bob
        childtemplate: {maxapplications: 3, properties: {k: v}, resources: {max: {vcore: 1}}, applytoexisting: true, inheritproperties: true}
        limits: [{limit: l, users: [u], groups: [g], maxresources: {vcore: 1500m}, maxapplications: 2}]
        queues: [{name: a, maxapplications: 1, resources: {guaranteed: {memory: 1k}, max: {memory: 2Ki}}}]
)",
                wire::Value::object({{"log.level", "INFO"}})) ==
          R"({"Partitions":[{"Name":"gpu","Queues":[{"Name":"root","Parent":true,"Resources":{},"MaxApplications":9,)"
          R"("Properties":{"priority.offset":"10"},"AdminACL":"eve","SubmitACL":"bob","ChildTemplate":)"
          R"({"MaxApplications":3,"Properties":{"k":"v"},"Resources":{"Max":{"vcore":"1"}},)"
          R"("ApplyToExisting":true,"InheritProperties":true},"Queues":[{"Name":"a",)"
          R"("Resources":{"Guaranteed":{"memory":"1000"},"Max":{"memory":"2048"}},"MaxApplications":1,)"
          R"("ChildTemplate":{"Resources":{}}}],"Limits":[{"Limit":"l","Users":["u"],"Groups":["g"],)"
          R"("MaxResources":{"vcore":"1500m"},"MaxApplications":2}]}],"PlacementRules":[{"Name":"fixed",)"
          R"("Create":true,"Filter":{"Type":"deny","Users":["u","v"],"Groups":["g"]},"Parent":{"Name":"user",)"
          R"("Filter":{"Type":""}},"Value":"a"}],"Preemption":{"Enabled":false,)"
          R"("QuotaPreemptionEnabled":true},"NodeSortPolicy":{"Type":"binpacking","ResourceWeights":{"vcore":0.5}},)"
          R"("UserGroupResolver":{"type":"os"}}],"Checksum":"..","Extra":{"log.level":"INFO"},)"
          R"("DeadlockDetectionEnabled":false,"DeadlockTimeoutSeconds":60})");
}

} // namespace yk::cli
