// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/trace.h"

#include <catch2/catch.hpp>

#include <string>

namespace yk::replay {
namespace {

const std::string kNodes = "sn,cpu_milli,memory_mib,gpu,model\n";
const std::string kPods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
                          "deletion_time,scheduled_time\n";

std::string nodes_fault(const std::string& rows) {
    const auto nodes = read_nodes(kNodes + rows, "n.csv");
    return nodes.ok() ? "no error" : nodes.error().text();
}

std::string pods_fault(const std::string& rows) {
    const auto pods = read_pods(kPods + rows, "p.csv");
    return pods.ok() ? "no error" : pods.error().text();
}

TEST_CASE("data/README mapping of nodes: vcore, memory in MiB, gpu in thousandths") {
    const auto nodes = read_nodes(kNodes + "n-1,32000,262144,8,V100M16\nn-2,1,1,0,\n", "n.csv");
    REQUIRE(nodes.ok());
    REQUIRE(nodes->size() == 2);
    CHECK((*nodes)[0].name == "n-1");
    CHECK((*nodes)[0].capacity == Amounts{{"vcore", 32000}, {"memory", 262144LL << 20}, {"gpu", 8000}});
    CHECK((*nodes)[1].capacity == Amounts{{"vcore", 1}, {"memory", 1 << 20}});
}

TEST_CASE("data/README mapping of pods: gpu is num_gpu times gpu_milli, left out when 0") {
    const auto pods = read_pods(kPods + "p-1,12000,16384,2,460,A|B,LS,Running,5,9,5\np-2,0,1,0,1000,,BE,Failed,5,,\n"
                                        "p-3,1,1,1,0,,Burstable,Failed,7,7,\n",
                                "p.csv");
    REQUIRE(pods.ok());
    REQUIRE(pods->size() == 3);
    CHECK((*pods)[0].request == Amounts{{"vcore", 12000}, {"memory", 16384LL << 20}, {"gpu", 920}});
    CHECK((*pods)[0].queue == "ls");
    CHECK((*pods)[0].deletion == 9);
    CHECK((*pods)[1].request == Amounts{{"vcore", 0}, {"memory", 1 << 20}});
    CHECK_FALSE((*pods)[1].deletion.has_value());
    CHECK((*pods)[2].request.count("gpu") == 0);
    CHECK((*pods)[2].queue == "burstable");
}

TEST_CASE("data/README: asks in order of creation, file order for ties") {
    const auto pods = read_pods(kPods + "late,1,1,0,0,,LS,R,9,,\nb,1,1,0,0,,LS,R,1,,\na,1,1,0,0,,LS,R,1,,\n", "p.csv");
    REQUIRE(pods.ok());
    std::string order;
    for (const TracePod& pod : *pods) order += pod.name + " ";
    CHECK(order == "b a late ");
}

TEST_CASE("trace: faults name file and line") {
    CHECK(nodes_fault("n-1,x,1,0,\n") == "n.csv:2: cpu_milli: \"x\" is no whole number of at least 0");
    CHECK(nodes_fault("n-1,1,1,0,\nn-1,1,1,0,\n") == "n.csv:3: sn: \"n-1\" stands in line 2 already");
    CHECK(nodes_fault(",1,1,0,\n").find("n.csv:2: sn: a name is") == 0);
    CHECK(nodes_fault("n\x01,1,1,0,\n").find("n.csv:2: sn: a name is") == 0);
    CHECK(nodes_fault("n,1,9223372036854775807,0,\n").find("n.csv:2: memory_mib: ") == 0);
    CHECK(pods_fault("p,1,1,0,0,,,R,1,,\n").find("p.csv:2: qos: \"\" is no queue name") == 0);
    CHECK(pods_fault("p,1,1,0,0,,a.b,R,1,,\n").find("p.csv:2: qos: ") == 0);
    CHECK(pods_fault("p,1,1,0,0,,LS,R,,,\n").find("p.csv:2: creation_time: ") == 0);
    CHECK(pods_fault("p,1,1,0,0,,LS,R,5,4,\n") == "p.csv:2: deleted at 4, before its creation at 5");
    CHECK(pods_fault("p,1,1,0,0,,LS,R,5,4.5,\n").find("p.csv:2: deletion_time: ") == 0);
    CHECK(pods_fault("p,1,1,1000001,1,,LS,R,5,,\n").find("p.csv:2: num_gpu: 1000001 is above") == 0);
}

TEST_CASE("trace: totals") {
    Trace trace;
    trace.nodes = {{"a", {{"vcore", 1}}}, {"b", {{"vcore", 2}, {"gpu", 5}}}};
    CHECK(trace.capacity() == Amounts{{"vcore", 3}, {"gpu", 5}});
    Amounts sum{{"vcore", 3}};
    add_amounts(sum, {{"vcore", 1}, {"gpu", 1}}, -1);
    CHECK(sum == Amounts{{"vcore", 2}, {"gpu", -1}});
}

TEST_CASE("trace: a missing file is named") {
    const auto trace = load_trace("/nowhere/nodes.csv", "/nowhere/pods.csv");
    REQUIRE_FALSE(trace.ok());
    CHECK(trace.error().text().find("/nowhere/nodes.csv") != std::string::npos);
}

} // namespace
} // namespace yk::replay
