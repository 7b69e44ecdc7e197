// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/observe.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/decoded.h"

namespace yk::scenario {
namespace {

Value json(const std::string& text) {
    return Value::parse(text);
}

/// Dumps by `what`, with `/state` for a list of ended applications; a list is given one item per page.
struct Dumps {
    std::map<std::string, Value> data;
    std::vector<Value> requests;

    wire::CallResult<Value> answer(const Value& body) {
        requests.push_back(body);
        std::string key = body["what"];
        if (body.contains("state")) key += "/" + body["state"].get<std::string>();
        if (data.count(key) == 0) {
            wire::CallError error;
            error.code = 320;
            error.name = "E_NOT_FOUND";
            return error;
        }
        if (!data[key].is_array() || data[key].empty()) return Value{{"complete", true}, {"data", data[key]}};
        const std::size_t page = body.contains("cursor") ? std::stoul(body["cursor"].get<std::string>()) : 0;
        const bool is_last = page + 1 == data[key].size();
        return Value{{"complete", is_last}, {"cursor", std::to_string(page + 1)}, {"data", {data[key][page]}}};
    }
};

Value look(Dumps& dumps, const std::string& section, const std::string& name) {
    Caller caller = [&](const wire::EncodedRequest& request) { return dumps.answer(wire::decoded(request)); };
    Observer observer{caller, "rm:1", "p"};
    auto found = observer.look(section, name);
    REQUIRE(found.ok());
    return std::move(found).value();
}

TEST_CASE("scenario.md applications: allocated leaves placeholders out, reservations is a number") {
    Dumps dumps;
    dumps.data["app"] = json(R"({"applicationState":"Running","queueName":"root.a","pendingResource":{"vcore":5},
        "usedResource":{"vcore":3,"gpu":1},"placeholderResource":{"vcore":4},
        "reservations":["x","y"]})");
    CHECK(look(dumps, "applications", "app") ==
          json(R"({"state":"Running","queue":"root.a","allocated":{"vcore":3,"gpu":1},"placeholder":{"vcore":4},
                   "pending":{"vcore":5},"reservations":2})"));
    CHECK(dumps.requests[0] == json(R"({"what":"app","partition":"p","rmID":"rm:1","application":"app"})"));
    CHECK(dumps.requests.size() == 1);
}

TEST_CASE("scenario.md applications: of the ended ones the one that ended last") {
    Dumps dumps;
    dumps.data["app"] = json(R"({"applicationID":"app","applicationState":"Completed","finishedTime":5})");
    dumps.data["apps/completed"] = json(R"([{"applicationID":"app","applicationState":"Failed","finishedTime":7},
        {"applicationID":"other","applicationState":"Completed","finishedTime":9}])");
    dumps.data["apps/rejected"] = json(R"([{"applicationID":"app","applicationState":"Rejected","finishedTime":6}])");
    CHECK(look(dumps, "applications", "app")["state"] == "Failed");
    dumps.data["apps/rejected"][0]["finishedTime"] = 8;
    CHECK(look(dumps, "applications", "app")["state"] == "Rejected");
}

TEST_CASE("scenario.md queues: found in lower case") {
    Dumps dumps;
    dumps.data["queue"] = json(R"({"status":"Active","isLeaf":true,"isManaged":true,"maxResource":{"vcore":2},
        "maxRunningApps":3,"applications":2,"runningApps":1,"allocatedResource":{"vcore":1},"pendingResource":{},"preemptingResource":{"vcore":1}})");
    const Value found = look(dumps, "queues", "root.A");
    CHECK(dumps.requests[0]["queue"] == "root.a");
    CHECK(found["applications"] == 2);
    CHECK(found["maxApplications"] == 3);
    CHECK(found["runningApplications"] == 1);
    CHECK(found["max"] == json(R"({"vcore":2})"));
    CHECK(found["guaranteed"] == Value::object());
    CHECK(found["preempting"] == json(R"({"vcore":1})"));
    CHECK(found["leaf"] == true);
    CHECK(found["state"] == "Active");
}

TEST_CASE("scenario.md nodes and partitions") {
    Dumps dumps;
    dumps.data["node"] =
        json(R"({"nodeID":"n","schedulable":true,"isReserved":true,"capacity":{"vcore":4},"available":{"vcore":-1}})");
    CHECK(look(dumps, "nodes", "n") == json(R"({"schedulable":true,"reserved":true,"capacity":{"vcore":4},"occupied":{},
                                                "allocated":{},"available":{"vcore":-1},"usedDevices":{},
                                                "lostDevices":{},"deviceConflict":false})"));
    dumps.data["partitions"] =
        json(R"([{"state":"Active","totalNodes":2,"totalContainers":5,"capacity":{"capacity":{"vcore":9},
        "usedCapacity":{"vcore":3}},"applications":{"New":1,"Running":2,"Completing":1,"Completed":4,"Rejected":8,"total":16}}])");
    CHECK(
        look(dumps, "partitions", "other") ==
        json(
            R"({"state":"Active","capacity":{"vcore":9},"allocated":{"vcore":3},"applications":4,"nodes":2,"allocations":5})"));
    CHECK(dumps.requests.back()["partition"] == "other");
}

TEST_CASE("scenario.md expect: what the daemon does not know does not exist") {
    Dumps dumps;
    for (const char* section : {"applications", "queues", "nodes", "partitions"})
        CHECK(look(dumps, section, "x").is_null());
}

} // namespace
} // namespace yk::scenario
