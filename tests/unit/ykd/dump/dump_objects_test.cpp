// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_objects.h"

#include <catch2/catch.hpp>

#include <limits>

#include "libcore/config_yaml/load.h"
#include "protocol/wire/body_reader.h"

using namespace yk;
using namespace yk::service;

TEST_CASE("I-400 a partition has the original's field names") {
    PartitionView view;
    view.name = "default";
    view.rm = "rm:1";
    view.state = "Active";
    view.capacity = {{"memory", 200}, {"vcore", 0}};
    view.allocated = {{"memory", 50}};
    view.node_sort_policy = "fair";
    view.resource_weights = {{"vcore", 1.5}};
    view.nodes = 2;
    view.allocations = 3;
    view.application_states = {{"Running", 2}, {"Failed", 1}};
    const Value value = partition_value(view);
    CHECK(value["clusterId"] == "rm:1");
    CHECK(value["capacity"]["capacity"]["memory"] == 200);
    CHECK(value["capacity"]["usedCapacity"]["memory"] == 50);
    CHECK(value["capacity"]["utilization"] == Value({{"memory", 25}, {"vcore", 0}}));
    CHECK(value["nodeSortingPolicy"] == Value({{"type", "fair"}, {"resourceWeights", {{"vcore", 1.5}}}}));
    CHECK(value["totalNodes"] == 2);
    CHECK(value["totalContainers"] == 3);
    CHECK(value["applications"] == Value({{"Failed", 1}, {"Running", 2}, {"total", 3}}));
}

TEST_CASE("I-401 what is empty is left out, what is marked is always there; I-421 partition at every level") {
    QueueView root;
    root.path = "root";
    root.state = "Active";
    QueueView leaf;
    leaf.path = "root.a";
    leaf.parent = "root";
    leaf.leaf = true;
    leaf.sort_policy = "fifo";
    leaf.preemption_delay = std::chrono::seconds{90};
    root.children.push_back(leaf);
    const Value value = queue_value(root, "default");
    CHECK(value["parent"] == "");
    CHECK_FALSE(value.contains("maxResource"));
    CHECK_FALSE(value.contains("properties"));
    CHECK(value["childNames"] == Value({"root.a"}));
    const Value& child = value["children"][0];
    CHECK(child["partition"] == "default");
    CHECK(child["isLeaf"] == true);
    CHECK(child["isManaged"] == true);
    CHECK(child["preemptionDelay"] == "1m30s");
    CHECK_FALSE(child.contains("children"));
}

TEST_CASE("P-133 P-015 P section 5 no. 3: what dumps show of preemption") {
    ApplicationView app;
    app.id = "a";
    app.max_ask_priority = 7;
    app.has_pending = true;
    AskView ask;
    ask.key = "k";
    ask.triggered_preemption = true;
    ask.required_node = "n";
    ask.originator = true;
    ask.priority = 7;
    ask.log = {{"preemption does not help", Instant{5}, 2}};
    PreemptionAttemptView attempt;
    attempt.at = Instant{9};
    attempt.result = "preemption does not help";
    attempt.fence_root = "root";
    attempt.candidates = 3;
    attempt.excluded_queues = {{"outside the fence", 2}};
    ask.last_preemption = attempt;
    app.asks.push_back(ask);
    AllocationView placed;
    placed.key = "p";
    placed.preempted = placed.originator = placed.placeholder = placed.placeholder_used = true;
    placed.task_group = "g";
    placed.priority = -1;
    app.allocations.push_back(placed);
    const Value value = application_value(app, "default", "rm");
    CHECK(value["maxRequestPriority"] == 7);
    const Value& request = value["requests"][0];
    CHECK(request["triggeredPreemption"] == true);
    CHECK(request["requiredNodeId"] == "n");
    CHECK(request["originator"] == true);
    CHECK(request["priority"] == "7");
    CHECK(request["allocationLog"] ==
          Value::array({{{"message", "preemption does not help"}, {"lastOccurrence", 5}, {"count", 2}}}));
    CHECK(request["lastPreemption"]["time"] == 9);
    CHECK(request["lastPreemption"]["result"] == "preemption does not help");
    CHECK(request["lastPreemption"]["fenceRoot"] == "root");
    CHECK(request["lastPreemption"]["candidates"] == 3);
    CHECK(request["lastPreemption"]["nodesTried"] == 0);
    CHECK(request["lastPreemption"]["excludedQueues"] == Value({{"outside the fence", 2}}));
    CHECK_FALSE(request["lastPreemption"].contains("nodeId"));
    const Value& allocation = value["allocations"][0];
    for (const char* flag : {"preempted", "originator", "placeholder", "placeholderUsed"})
        CHECK(allocation[flag] == true);
    CHECK(allocation["taskGroupName"] == "g");
    CHECK(allocation["priority"] == "-1");
    QueueView queue;
    queue.path = "root.q";
    queue.preempting = {{"memory", 4}};
    queue.preemption_fence = true;
    queue.preemption_delay = std::chrono::seconds{30};
    queue.quota_preemption_delay = std::chrono::seconds{7};
    queue.last_quota_run = QuotaRunView{Instant{3}, {{"memory", 10}}, {{"memory", 5}}, 3, 1};
    const Value shown = queue_value(queue, "default");
    CHECK(shown["preemptionEnabled"] == true);
    CHECK(shown["isPreemptionFence"] == true);
    CHECK(shown["preemptionDelay"] == "30s");
    CHECK(shown["quotaPreemptionDelay"] == "7s");
    CHECK(shown["preemptingResource"] == Value({{"memory", 4}}));
    CHECK(shown["lastQuotaPreemption"] == Value({{"time", 3},
                                                 {"target", {{"memory", 10}}},
                                                 {"claimed", {{"memory", 5}}},
                                                 {"candidates", 3},
                                                 {"victims", 1}}));
}

TEST_CASE("P-015 a queue without preemption says so: the flags are there, no amount is") {
    QueueView queue;
    queue.path = "root.q";
    queue.preemption_enabled = false;
    const Value shown = queue_value(queue, "default");
    CHECK(shown["preemptionEnabled"] == false);
    CHECK(shown["isPreemptionFence"] == false);
    CHECK(shown["preemptionDelay"] == "0s");
    CHECK(shown["quotaPreemptionDelay"] == "0s");
    CHECK_FALSE(shown.contains("preemptingResource"));
}

TEST_CASE("I-316 I-411 queues far from the root are named, and asked for one by one") {
    QueueView tree;
    for (int i = 0; i < 40; ++i) {
        QueueView above;
        above.path = "q" + std::to_string(i);
        above.max = ResourceMapView{{"vcore", 1}};
        above.child_template = TemplateView{"root", 1, {}, {{"vcore", 1}}, {}};
        above.children.push_back(tree);
        tree = above;
    }
    const Value value{{"envelope", {{"data", {{"queues", Value::array({queue_value(tree, "default")})}}}}}};
    CHECK_FALSE(wire::scan(wire::encoded_value(value)));
    const Value* deepest = &value["envelope"]["data"]["queues"][0];
    while (deepest->contains("children")) deepest = &(*deepest)["children"][0];
    CHECK((*deepest)["queuename"] == "q" + std::to_string(39 - kMaxQueueNesting));
    CHECK((*deepest)["childNames"].size() == 1);
}

TEST_CASE("C-477 the child template of a parent") {
    QueueView queue;
    queue.child_template = TemplateView{"root.p", 3, {{"k", "v"}}, {{"vcore", 5}}, {}};
    const Value value = queue_value(queue, "default");
    CHECK(value["template"] == Value({{"maxApplications", 3},
                                      {"maxResource", {{"vcore", 5}}},
                                      {"properties", {{"k", "v"}}},
                                      {"owner", "root.p"}}));
    CHECK_FALSE(queue_value(QueueView{}, "default").contains("template"));
    CHECK_FALSE(value["template"].contains("applyToExisting"));
    // flags that are off are not shown (B-10)
    queue.child_template->apply_to_existing = queue.child_template->inherit_properties = true;
    const Value with_flags = queue_value(queue, "default");
    CHECK(with_flags["template"]["applyToExisting"] == true);
    CHECK(with_flags["template"]["inheritProperties"] == true);
}

TEST_CASE("C-475 placement rules") {
    RuleView parent{"fixed", {{"create", "false"}, {"queue", "root.p"}, {"qualified", "true"}}, {}, {}};
    const FilterView filter{"deny", {"a", "b"}, {}, "", "x*"};
    const Value value = rule_value({"tag", {{"create", "true"}, {"tagName", "ns"}}, filter, {parent}});
    CHECK(value["name"] == "tag");
    CHECK(value["parameters"] == Value({{"create", "true"}, {"tagName", "ns"}}));
    CHECK(value["filter"] == Value({{"type", "deny"}, {"userList", {"a", "b"}}, {"groupExp", "x*"}}));
    CHECK(value["parentRule"]["parameters"]["queue"] == "root.p");
    CHECK_FALSE(value["parentRule"].contains("filter"));
    CHECK_FALSE(value["parentRule"].contains("parentRule"));
}

TEST_CASE("I-420 an application's asks and allocations") {
    ApplicationView view;
    view.id = "app-1";
    view.queue = "root.a";
    view.state = "Running";
    view.submitted = Instant{5};
    view.started = Instant{7'000'000};
    AskView ask;
    ask.key = "k";
    ask.priority = 3;
    ask.log = {{"not enough queue quota", Instant{9}, 4}};
    view.asks = {ask};
    AllocationView allocation;
    allocation.key = "a";
    allocation.request_time = Instant{10};
    allocation.allocation_time = Instant{25};
    view.allocations = {allocation};
    const Value value = application_value(view, "default", "rm:1");
    CHECK(value["applicationID"] == "app-1");
    CHECK(value["submissionTime"] == 5);
    CHECK(value["startTime"] == 7); // milliseconds, for the original's web pages
    CHECK_FALSE(value.contains("finishedTime"));
    CHECK(value["requests"][0]["priority"] == "3");
    CHECK(value["requests"][0]["allocationLog"][0]["count"] == 4);
    CHECK(value["allocations"][0]["allocationDelay"] == 15);
    CHECK(value["hasReserved"] == false);
    CHECK(value["resourceHistory"] == Value::object());
}

TEST_CASE("an application that never ran has the original's marks for it") { // interface.md 5.3
    ApplicationView view;
    view.state_log = {{Instant{1}, "New"}, {Instant{2}, "Accepted"}};
    const Value value = application_value(view, "default", "rm:1");
    CHECK(value["startTime"] == -62'135'596'800'000);
    CHECK(value["maxRequestPriority"] == std::numeric_limits<std::int32_t>::min());
    CHECK(value["stateLog"] == Value::array({{{"time", 2}, {"applicationState", "Accepted"}}}));
    view.state_log.pop_back();
    view.has_pending = true; // of priority 0
    const Value fresh = application_value(view, "default", "rm:1");
    CHECK_FALSE(fresh.contains("stateLog"));
    CHECK_FALSE(fresh.contains("maxRequestPriority"));
}

TEST_CASE("a node shows host and rack under both spellings of their attributes") {
    NodeView view;
    view.id = "n1";
    view.attributes = {{"si.io/hostname", "h"}, {"si/rackname", "r"}};
    view.capacity = {{"vcore", 10}};
    view.allocated = {{"vcore", 4}};
    view.reservations = {"k"};
    const Value value = node_value(view, "default", "rm:1");
    CHECK(value["hostName"] == "h");
    CHECK(value["rackName"] == "r");
    CHECK(value["utilized"] == Value({{"vcore", 40}}));
    CHECK(value["isReserved"] == true);
    CHECK(value["attributes"]["si/node-partition"] == "[rm:1]default");
}

TEST_CASE("utilisation has ten buckets; 0 % and 10 % are in the first, above 100 % in the last") {
    std::vector<NodeView> nodes(4);
    const std::int64_t used[] = {0, 10, 11, 150};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].id = "n" + std::to_string(i);
        nodes[i].capacity = {{"vcore", 100}};
        nodes[i].allocated = {{"vcore", used[i]}};
    }
    const Value buckets = utilization_value(nodes, "default", "rm")["utilizations"][0]["utilization"];
    REQUIRE(buckets.size() == 10);
    CHECK(buckets[0]["bucketName"] == "0-10%");
    CHECK(buckets[0]["nodeNames"] == Value({"n0", "n1"}));
    CHECK(buckets[1]["nodeNames"] == Value({"n2"}));
    CHECK(buckets[9]["nodeNames"] == Value({"n3"}));
}

TEST_CASE("I-440 the configuration is shown in its own shape") {
    const auto loaded = config_yaml::load(R"(
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: a
            resources: {max: {memory: 5, vcore: 2}}
)",
                                          "test");
    REQUIRE(loaded.configuration);
    const Value value = configuration_value(*loaded.configuration);
    const Value& leaf = value["partitions"][0]["queues"][0]["queues"][0];
    CHECK(leaf["name"] == "a");
    CHECK(leaf["resources"]["max"].contains("vcore"));
}
