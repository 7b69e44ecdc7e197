// SPDX-License-Identifier: Apache-2.0
#include "ykctl/files/object_file.h"

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

TEST_CASE("I-004 -f: whole numbers are in base units, and a map with a text has quantities") {
    const auto capacity = [](const std::string& text) {
        const auto all = read("nodeID: n\nschedulableResource: " + text + "\n");
        return all.problem.empty() ? all.messages.at(0)["schedulableResource"] : Value(all.problem);
    };
    CHECK(capacity("{memory: 1024, vcore: 16}") == Value{{"memory", 1024}, {"vcore", 16}});
    CHECK(capacity("{memory: 64Gi, vcore: 16}") == Value{{"memory", std::int64_t{64} << 30}, {"vcore", 16000}});
    CHECK(capacity("{vcore: 1500m}") == Value{{"vcore", 1500}});
    CHECK(capacity("{vcore: \"2\"}") == Value{{"vcore", 2000}});
    CHECK(capacity("{}") == Value::object());
    CHECK(capacity("{memory: 1.5Gi}") ==
          "f.yaml:2:31: schedulableResource.memory: invalid quantity \"1.5Gi\" (no fractions: write 1536Mi)");
    CHECK(capacity("{memory: 64GB}").get<std::string>().find("f.yaml:2:31: schedulableResource.memory: invalid") == 0);
    CHECK(capacity("{memory: 9223372036854775808}").get<std::string>().find("overflow") != std::string::npos);
    CHECK(capacity("{memory: [1]}") == "f.yaml:2:31: schedulableResource.memory must be an amount");
    CHECK(capacity("{memory: 1, memory: 2}") == "f.yaml:2:34: schedulableResource.memory is given twice");
}

TEST_CASE("-f: what ykctl shows is read back") {
    CHECK(read("schema: 1\nitem:\n  nodeID: n1\n  attributes: {rack: r1}\n  capacity: {vcore: 8000}\n"
               "  available: {vcore: 8000}\n  schedulable: false\n  isReserved: false\n")
              .messages == std::vector<Value>{{{"nodeID", "n1"},
                                               {"attributes", {{"rack", "r1"}}},
                                               {"schedulableResource", {{"vcore", 8000}}},
                                               {"action", 6}}});
    CHECK(read("{\"schema\":1,\"items\":[{\"applicationID\":\"a\",\"partition\":\"default\",\"queueName\":\"root.q\","
               "\"user\":\"ann\",\"groups\":[\"staff\"],\"applicationState\":\"Running\",\"requests\":[]}]}",
               application_spec())
              .messages == std::vector<Value>{{{"applicationID", "a"},
                                               {"partitionName", "default"},
                                               {"queueName", "root.q"},
                                               {"ugi", {{"user", "ann"}, {"groups", Value::array({"staff"})}}}}});
    CHECK(read("allocationKey: k\napplicationId: a\nresource: {vcore: 1000}\npriority: \"7\"\nlastReason: x\n"
               "allocationTags: {t: u}\n",
               ask_spec())
              .messages == std::vector<Value>{{{"allocationKey", "k"},
                                               {"applicationID", "a"},
                                               {"resourceAsk", {{"vcore", 1000}}},
                                               {"priority", 7},
                                               {"tags", {{"t", "u"}}}}});
    CHECK(read("nodeID: n\ncapacity: {}\nschedulableResource: {}\n").problem ==
          "f.yaml:3:1: schedulableResource says what capacity says, too: leave one out");
    CHECK(read("nodeID: n\naction: CREATE\nschedulable: true\n").problem ==
          "f.yaml:3:1: schedulable says what action says, too: leave one out");
    CHECK(read("applicationID: a\nuser: x\nugi: {user: y}\n", application_spec()).problem ==
          "f.yaml:3:1: ugi says what user says, too: leave one out");
}

TEST_CASE("-f: a file of several kinds") {
    std::vector<std::string> seen;
    const Kinds kinds{&ask_spec(), &node_spec(), &application_spec()};
    const auto each = [&](const MessageSpec& kind, const Value& message) -> std::optional<Failure> {
        seen.push_back(std::string{kind.lists.front()} + " " + message.dump());
        return std::nullopt;
    };
    CHECK_FALSE(for_each_object("nodes: [{nodeID: n}]\napplications:\n- applicationID: a\nasks:\n"
                                "- {allocationKey: k, applicationID: a}\n---\n- {allocationKey: l, applicationID: a, "
                                "nodeID: n}\n- nodeID: m\n- applicationID: b\n",
                                "f", kinds, each));
    CHECK(seen == std::vector<std::string>{"nodes {\"nodeID\":\"n\"}", "new {\"applicationID\":\"a\"}",
                                           "asks {\"allocationKey\":\"k\",\"applicationID\":\"a\"}",
                                           "asks {\"allocationKey\":\"l\",\"applicationID\":\"a\",\"nodeID\":\"n\"}",
                                           "nodes {\"nodeID\":\"m\"}", "new {\"applicationID\":\"b\"}"});
    const auto failure = for_each_object("partitions: []\n", "f", kinds, each);
    REQUIRE(failure);
    CHECK(failure->message == "f:1:1: what is this? It has none of allocationKey (AllocationAsk), nodeID (NodeInfo), "
                              "applicationID (AddApplicationRequest)");
    CHECK(failure->hints.size() == 2);
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
