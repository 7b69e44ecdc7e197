// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_configuration.h"

#include <catch2/catch.hpp>

using namespace yk::service;
using yk::wire::Value;

TEST_CASE("I-440 the configuration is shown as it was written, in the order and with the types of the original") {
    const Value shown = rest_configuration(R"(
partitions:
  - name: default
    placementrules: [{parent: {name: provided}, name: user}]
    queues:
      - submitacl: "*"
        name: root
        properties: {z: 1, name: kept}
        queues:
          - {name: A, resources: {max: {vcore: 2, memory: 10G}, guaranteed: {}}, maxapplications: 0}
)",
                                           "AB", {{"log.level", "INFO"}});
    CHECK(configuration_yaml(shown) == "partitions:\n"
                                       "  - name: default\n"
                                       "    queues:\n"
                                       "      - name: root\n"
                                       "        parent: true\n"
                                       "        properties:\n"
                                       "            name: kept\n"
                                       "            z: \"1\"\n"
                                       "        submitacl: '*'\n"
                                       "        queues:\n"
                                       "          - name: A\n"
                                       "            resources:\n"
                                       "                max:\n"
                                       "                    memory: 10G\n"
                                       "                    vcore: \"2\"\n"
                                       "    placementrules:\n"
                                       "      - name: user\n"
                                       "        parent:\n"
                                       "            name: provided\n"
                                       "checksum: AB\n"
                                       "deadlockdetectionenabled: false\n"
                                       "deadlocktimeoutseconds: 60\n"
                                       "extra:\n"
                                       "    log.level: INFO\n");
    const Value json = with_go_names(shown);
    CHECK(json["Extra"] == Value({{"log.level", "INFO"}}));
    const Value& partition = json["Partitions"][0];
    CHECK(partition["NodeSortPolicy"] == Value({{"Type", ""}}));
    CHECK(partition["Preemption"] == Value::object());
    CHECK(partition["PlacementRules"][0]["Parent"]["Filter"] == Value({{"Type", ""}}));
    CHECK(partition["Queues"][0]["Properties"] == Value({{"name", "kept"}, {"z", "1"}}));
    CHECK(partition["Queues"][0]["Queues"][0] == Value({{"Name", "A"},
                                                        {"Resources", {{"Max", {{"memory", "10G"}, {"vcore", "2"}}}}},
                                                        {"ChildTemplate", {{"Resources", Value::object()}}}}));
}

TEST_CASE("a configuration without partitions is allowed, what is no YAML is not") {
    for (const char* text : {"", "{}", "{}\n", "partitions:", "partitions: []", "# nothing"})
        CHECK(has_no_partitions(text));
    for (const char* text : {"partitions: [", "partitions: [{name: a}]", "colour: red", "[]", "partitions: x"})
        CHECK_FALSE(has_no_partitions(text));
}

TEST_CASE("queues without a root are shown below one, with the limits of their partition") {
    const Value shown = rest_configuration(
        "partitions: [{name: p, limits: [{limit: l, users: [u]}], queues: [{name: a}, {name: b}]}]", {}, {});
    const Value& root = shown["partitions"][0]["queues"][0];
    CHECK(root["name"] == "root");
    CHECK(root["queues"].size() == 2);
    CHECK(root["limits"][0]["users"][0] == "u");
    CHECK(rest_configuration("partitions: [{name: p}]", {}, {})["partitions"][0]["queues"][0] ==
          Value({{"name", "root"}, {"parent", true}}));
}
