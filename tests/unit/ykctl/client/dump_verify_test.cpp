// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/dump_verify.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

Value allocation(const char* app, const char* key, const char* node, int vcore) {
    return {{"applicationId", app}, {"allocationKey", key}, {"nodeId", node}, {"resource", {{"vcore", vcore}}}};
}

/// One partition, sound.
Value sound() {
    Value n1{{"nodeID", "n-1"},
             {"capacity", {{"vcore", 8000}, {"memory", 16}}},
             {"allocated", {{"vcore", 3000}}},
             {"occupied", {{"memory", 6}}},
             {"available", {{"vcore", 5000}, {"memory", 10}}},
             {"allocations", {allocation("a", "k1", "n-1", 1000), allocation("a", "k2", "n-1", 2000)}}};
    Value ask = allocation("a", "k3", "", 4000);
    Value app{{"clusterId", "r"},
              {"partition", "default"},
              {"applicationID", "a"},
              {"queueName", "root.q"},
              {"usedResource", {{"vcore", 3000}}},
              {"pendingResource", {{"vcore", 4000}}},
              {"pendingAsks", 1},
              {"requests", Value::array({ask})},
              {"allocations", n1["allocations"]}};
    Value leaf{{"queuename", "root.q"},
               {"isLeaf", true},
               {"allocatedResource", {{"vcore", 3000}}},
               {"pendingResource", {{"vcore", 4000}}}};
    Value root{{"clusterId", "r"},
               {"partition", "default"},
               {"queuename", "root"},
               {"isLeaf", false},
               {"allocatedResource", {{"vcore", 3000}}},
               {"pendingResource", {{"vcore", 4000}}},
               {"childNames", {"root.q"}},
               {"children", Value::array({leaf})}};
    Value partition{{"clusterId", "r"},
                    {"name", "default"},
                    {"capacity", {{"capacity", n1["capacity"]}}},
                    {"totalNodes", 1},
                    {"totalContainers", 2}};
    return {{"partitions", Value::array({partition})},
            {"applications", Value::array({app})},
            {"nodes",
             Value::array({{{"clusterId", "r"}, {"partitionName", "default"}, {"nodesInfo", Value::array({n1})}}})},
            {"queues", Value::array({root})},
            {"reservations", Value::array()}};
}

std::string faults(const Value& full) {
    std::string text;
    for (const auto& fault : verify_dump(full)) text += fault.partition + " " + fault.object + ": " + fault.text + "\n";
    return text;
}

} // namespace

TEST_CASE("S-181 dump verify: a sound dump has no faults") {
    CHECK(faults(sound()).empty());
    CHECK(faults(Value::object()).empty());
    Value rejected = sound();
    rejected["applications"].push_back({{"clusterId", "r"},
                                        {"partition", "default"},
                                        {"applicationID", "no"},
                                        {"applicationState", "Rejected"},
                                        {"queueName", "root.none"}});
    CHECK(faults(rejected).empty());
    Value twice = sound();
    twice["partitions"].push_back({{"clusterId", "other"}, {"name", "default"}}); // another RM's, empty
    CHECK(faults(twice).empty());
}

TEST_CASE("S-181 dump verify names the object whose numbers do not add up, and what is missing") {
    Value dump = sound();
    SECTION("a node") {
        dump["nodes"][0]["nodesInfo"][0]["allocated"]["vcore"] = 2000;
        CHECK(faults(dump).find("[r]default node n-1: allocated is 2 vcore, but its allocations add up to 3 vcore") ==
              0);
    }
    SECTION("an application") {
        dump["applications"][0]["pendingResource"]["vcore"] = 1;
        dump["applications"][0]["pendingAsks"] = 7;
        CHECK(faults(dump).find("app a: pendingResource is ") != std::string::npos);
        CHECK(faults(dump).find("app a: pendingAsks is 7, but there are 1") != std::string::npos);
    }
    SECTION("a queue") {
        dump["queues"][0]["children"][0]["allocatedResource"]["vcore"] = 9000;
        CHECK(faults(dump).find("queue root: allocatedResource is 3 vcore, but its children add up to 9 vcore") !=
              std::string::npos);
        CHECK(faults(dump).find("queue root.q: allocatedResource is 9 vcore, but its applications") !=
              std::string::npos);
    }
    SECTION("an orphan on a node, and one that its node does not list") {
        dump["nodes"][0]["nodesInfo"][0]["allocations"][0] = allocation("gone", "x", "n-1", 1000);
        CHECK(faults(dump).find("alloc gone/x: is listed by node n-1 and by no application there") !=
              std::string::npos);
        CHECK(faults(dump).find("alloc a/k1: is not listed by its node n-1") != std::string::npos);
    }
    SECTION("a node and a queue that are not there") {
        dump["applications"][0]["allocations"][1]["nodeId"] = "n-9";
        dump["applications"][0]["queueName"] = "root.gone";
        CHECK(faults(dump).find("alloc a/k2: is on node n-9, which is not there") != std::string::npos);
        CHECK(faults(dump).find("app a: is in queue root.gone, which is not there") != std::string::npos);
    }
    SECTION("the partition") {
        dump["partitions"][0]["totalContainers"] = 3;
        dump["partitions"][0]["capacity"]["capacity"]["memory"] = 1;
        CHECK(faults(dump).find("partition: totalContainers is 3, but there are 2") != std::string::npos);
        CHECK(faults(dump).find("partition: capacity is ") != std::string::npos);
    }
}

TEST_CASE("G-040 dump verify: what takes the place of a placeholder elsewhere is no orphan") {
    Value dump = sound();
    Value& node = dump["nodes"][0]["nodesInfo"][0];
    Value& app = dump["applications"][0];
    Value coming = allocation("a", "real", "n-1", 1000);
    coming["taskGroupName"] = "g";
    node["allocations"].push_back(coming);
    node["allocated"]["vcore"] = 4000;
    node["available"]["vcore"] = 4000;
    CHECK(faults(dump) == "[r]default alloc a/real: is listed by node n-1 and by no application there\n");
    for (Value* list : {&app["allocations"], &node["allocations"]}) {
        (*list)[0]["placeholder"] = true;
        (*list)[0]["taskGroupName"] = "g";
    }
    app["usedResource"]["vcore"] = 2000;
    app["placeholderResource"]["vcore"] = 1000;
    CHECK(faults(dump).empty());
}
