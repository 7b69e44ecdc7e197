// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/object_file.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

struct Read {
    std::vector<Value> messages;
    std::string problem;
};

Read read(std::string_view text, const MessageSpec& spec = node_spec()) {
    Read result;
    const auto failure = for_each_object(text, "f.yaml", spec, [&](Value message) -> std::optional<Failure> {
        result.messages.push_back(std::move(message));
        return std::nullopt;
    });
    if (failure) {
        CHECK(failure->exit == Exit::Usage);
        result.problem = failure->message;
    }
    return result;
}

const Value kNode{{"nodeID", "n1"}, {"action", 1}, {"schedulableResource", {{"memory", 1024}, {"vcore", 2000}}}};

} // namespace

TEST_CASE("-f: the same message as YAML, JSON and JSON-lines") {
    const auto yaml = read("nodeID: n1\naction: create\nschedulableResource: {memory: 1024, vcore: 2000}\n");
    CHECK(yaml.messages == std::vector<Value>{kNode});
    const auto json = read("{\n  \"nodeID\": \"n1\",\n  \"action\": \"CREATE\",\n"
                           "  \"schedulableResource\": {\"memory\":1024,\"vcore\":2000}\n}\n");
    CHECK(json.messages == std::vector<Value>{kNode});
    const auto lines =
        read("{\"nodeID\":\"n1\",\"action\":1,\"schedulableResource\":{\"memory\":1024,\"vcore\":2000}}\n\n"
             "{\"nodeID\":\"n2\"}\n");
    REQUIRE(lines.messages.size() == 2);
    CHECK(lines.messages[0] == kNode);
    CHECK(lines.messages[1] == Value{{"nodeID", "n2"}});
}

TEST_CASE("-f: a list, several documents, and the request form") {
    const std::vector<Value> both{{{"nodeID", "a"}}, {{"nodeID", "b"}}};
    CHECK(read("- nodeID: a\n- nodeID: b\n").messages == both);
    CHECK(read("---\nnodeID: a\n---\n# only words\n---\nnodeID: b\n").messages == both);
    CHECK(read("nodes:\n- nodeID: a\n- nodeID: b\n").messages == both);
    CHECK(read("{\"nodes\":[{\"nodeID\":\"a\"},{\"nodeID\":\"b\"}]}").messages == both);
    CHECK(read("[{\"nodeID\":\"a\"},\n {\"nodeID\":\"b\"}]").messages == both);
    CHECK(read("").messages.empty());
    CHECK(read("# nothing\n").problem.empty());
}

TEST_CASE("-f: a text may look like a number, a number may not look like a text") {
    CHECK(read("nodeID: 0815\n").messages == std::vector<Value>{{{"nodeID", "0815"}}});
    CHECK(read("applicationID: a\nexecutionTimeoutMilliSeconds: \"5\"\n", application_spec()).problem ==
          "f.yaml:2:31: executionTimeoutMilliSeconds must be a whole number");
    CHECK(read("allocationKey: k\napplicationID: a\nplaceholder: yes\n", ask_spec()).problem ==
          "f.yaml:3:14: placeholder must be true or false");
}

TEST_CASE("I-004 -f: no suffixes in messages") {
    CHECK(read("nodeID: n\nschedulableResource: {memory: 64Gi}\n")
              .problem.rfind("f.yaml:2:31: schedulableResource.memory must be a whole number", 0) == 0);
    CHECK(read("nodeID: n\nschedulableResource: {memory: 1.5}\n").problem.rfind("f.yaml:2:31:", 0) == 0);
    CHECK(read("nodeID: n\nschedulableResource: {memory: 9223372036854775808}\n").problem.rfind("f.yaml:2:31:", 0) ==
          0);
}

TEST_CASE("-f: unknown, missing and repeated fields are named with their place") {
    CHECK(read("nodeID: n1\nschedulableResourc: {}\n").problem ==
          "f.yaml:2:1: unknown field 'schedulableResourc' in NodeInfo; did you mean 'schedulableResource'?");
    CHECK(read("---\nnodeID: a\n---\n\naction: CREATE\n").problem == "f.yaml:5:1: NodeInfo lacks nodeID");
    CHECK(read("---\nnodeID: a\n---\nnodeID: ''\n").problem == "f.yaml:4:9: nodeID is empty");
    CHECK(read("nodeID: a\nnodeID: b\n").problem == "f.yaml:2:1: nodeID is given twice");
    CHECK(read("{\"nodeID\":\"a\"}\n{\"nodeID\":\"a\",\"nodeID\":\"b\"}\n").problem ==
          "f.yaml:2: nodeID is given twice");
    CHECK(read("{\"nodeID\":\"a\"}\n{\"nodID\":\"a\"}\n").problem ==
          "f.yaml:2: unknown field 'nodID' in NodeInfo; did you mean 'nodeID'?");
    CHECK(read("nodeID: n1\naction: CRATE\n").problem ==
          "f.yaml:2:9: unknown action 'CRATE': CREATE, CREATE_DRAIN, UPDATE, DRAIN, SCHEDULABLE or DECOMISSION");
}

TEST_CASE("-f: nested messages and absent values") {
    const auto asks = read("allocationKey: k\napplicationID: a\npriority: ~\n"
                           "preemptionPolicy: {allowPreemptSelf: true}\ntags: {x: 1}\n",
                           ask_spec());
    CHECK(asks.messages == std::vector<Value>{{{"allocationKey", "k"},
                                               {"applicationID", "a"},
                                               {"preemptionPolicy", {{"allowPreemptSelf", true}}},
                                               {"tags", {{"x", "1"}}}}});
    CHECK(read("allocationKey: k\napplicationID: a\npreemptionPolicy: {self: true}\n", ask_spec())
              .problem.rfind("f.yaml:3:20: unknown field 'self' in PreemptionPolicy", 0) == 0);
}

TEST_CASE("I-221 -f: what an RM has booked on a node") {
    CHECK(read("nodeID: n\nrecovery: {availableResource: {vcore: 500}, allocations: 2}\n").messages ==
          std::vector<Value>{
              {{"nodeID", "n"}, {"recovery", {{"availableResource", {{"vcore", 500}}}, {"allocations", 2}}}}});
    CHECK(read("nodeID: n\nrecovery: {available: {}}\n")
              .problem.rfind("f.yaml:2:12: unknown field 'available' in recovery", 0) == 0);
}

TEST_CASE("-f: aliases and merge keys stand for what they name, limits are those of the daemon") {
    CHECK(read("- &a {nodeID: a, action: 1}\n- {<<: *a, nodeID: b}\n").messages ==
          std::vector<Value>{{{"nodeID", "a"}, {"action", 1}}, {{"nodeID", "b"}, {"action", 1}}});
    const std::string key(256, 'k');
    CHECK(read("nodeID: a\nattributes: {" + key + ": v}\n").messages ==
          std::vector<Value>{{{"nodeID", "a"}, {"attributes", {{key, "v"}}}}});
}

TEST_CASE("-f: what is not YAML or JSON is refused with its place, not crashed on") {
    CHECK(read("nodeID: [\n").problem.rfind("f.yaml:", 0) == 0);
    CHECK(read("just words\n").problem == "f.yaml:1:1: expected a NodeInfo (a map of its fields)");
    CHECK(read("{\"nodeID\":\"a\"}\n{\"nodeID\":\n").problem.rfind("f.yaml:2: this line is not one JSON value", 0) ==
          0);
    const std::string deep(100000, '[');
    CHECK_FALSE(read(deep).problem.empty());
    CHECK(read("{\"nodeID\":\"a\"}\n" + deep + "\n").problem.rfind("f.yaml:2: this line is not", 0) == 0);
}

TEST_CASE("-f: the sink's failure ends the walk") {
    int seen = 0;
    const auto failure = for_each_object("- nodeID: a\n- nodeID: b\n", "f", node_spec(), [&](const Value&) {
        ++seen;
        return std::optional<Failure>{usage_error("stop")};
    });
    CHECK(seen == 1);
    CHECK(failure->message == "stop");
}
