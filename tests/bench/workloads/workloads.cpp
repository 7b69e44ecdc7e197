// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/workloads/workloads.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace yk::bench {

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::string partition(NodeOrder order, const std::string& queues, const std::string& limits = "") {
    return fmt::format("partitions:\n"
                       "  - name: default\n"
                       "    nodesortpolicy: {{type: {}}}\n"
                       "    queues:\n"
                       "      - name: root\n"
                       "        submitacl: '*'\n{}"
                       "        queues:\n{}",
                       policy_of(order), limits, queues);
}

void add_nodes(Workload& workload, std::uint32_t count, std::uint32_t size) {
    for (std::uint32_t i = 0; i < count; ++i) workload.nodes.push_back({fmt::format("node-{:05}", i), size});
}

/// 20 sizes as W2 fixes them; any other number between the same bounds.
Amounts tree_size(std::uint32_t s, std::uint32_t shapes) {
    std::int64_t memory = 256 * (1 + s % 4);
    std::int64_t vcore = 100 * (1 + s % 5);
    if (shapes != 20) {
        memory = 256 + 20 * (s % 40);
        vcore = 100 + 16 * (s / 40 % 26);
    }
    return {{"memory", memory * kMiB}, {"vcore", vcore}, {"pods", 1}};
}

/// Every leaf is guaranteed half of an equal part of the cluster; its max is the cluster and never reached.
std::string leaf_text(const std::string& indent, std::uint32_t leaf, const TreeParameters& p, const Amounts& node) {
    const std::int64_t share = std::int64_t{2} * std::max(p.parents, 1U) * p.leaves;
    const std::int64_t memory = node[0].second * p.nodes;
    const std::int64_t vcore = node[1].second * p.nodes;
    return fmt::format(
        "{0}- name: leaf-{1}\n"
        "{0}  resources: {{guaranteed: {{memory: {2}, vcore: {3}m}}, max: {{memory: {4}, vcore: {5}m}}}}\n",
        indent, leaf, memory / share, vcore / share, memory, vcore);
}

std::string tree_queues(const TreeParameters& p, const Amounts& node) {
    std::string text;
    for (std::uint32_t parent = 0; parent < std::max(p.parents, 1U); ++parent) {
        if (p.parents > 0) text += fmt::format("          - name: parent-{}\n            queues:\n", parent);
        const std::string indent(p.parents > 0 ? 14 : 10, ' ');
        for (std::uint32_t leaf = 0; leaf < p.leaves; ++leaf) text += leaf_text(indent, leaf, p, node);
    }
    return text;
}

std::string leaf_path(const TreeParameters& p, std::uint32_t leaf) {
    if (p.parents == 0) return fmt::format("root.leaf-{}", leaf);
    return fmt::format("root.parent-{}.leaf-{}", leaf / p.leaves, leaf % p.leaves);
}

std::string user_name(std::uint32_t i) {
    return fmt::format("user-{:05}", i);
}

std::string group_name(std::uint32_t i) {
    return fmt::format("group-{:04}", i);
}

/// W10: every user and group has a limit of its own at root. Ask i belongs to application, user and group i modulo
/// their numbers, so all asks of a group have one size.
std::string limits_text(const TreeParameters& p) {
    if (p.users == 0) return "";
    std::string users;
    for (std::uint32_t i = 0; i < p.users; ++i) users += (i == 0 ? "" : ", ") + user_name(i);
    std::string text = fmt::format("        limits:\n          - users: [{}]\n"
                                   "            maxresources: {{memory: 1T, vcore: 10000}}\n"
                                   "            maxapplications: 100\n",
                                   users);
    for (std::uint32_t i = 0; i < p.groups; ++i) {
        const std::int64_t wanted = tree_size(i % p.shapes, p.shapes)[0].second * (p.asks / p.groups);
        text += fmt::format("          - groups: [{}]\n            maxresources: {{memory: {}}}\n", group_name(i),
                            i % 10 == 0 ? wanted / 2 : wanted);
    }
    return text;
}

} // namespace

std::string name_of(NodeOrder order) {
    return order == NodeOrder::Given ? "fragmentation given" : policy_of(order);
}

std::string policy_of(NodeOrder order) {
    switch (order) {
    case NodeOrder::Fair: return "fair";
    case NodeOrder::BinPacking: return "binpacking";
    case NodeOrder::Fragmentation:
    case NodeOrder::Given: break;
    }
    return "fragmentation";
}

Workload make_two_queues(std::uint32_t nodes, std::uint32_t asks) {
    Workload workload;
    const std::int64_t per_node = asks / nodes + 1;
    workload.config =
        partition(NodeOrder::Fair, fmt::format("          - name: a\n"
                                               "            resources: {{guaranteed: {0}}}\n"
                                               "          - name: b\n"
                                               "            resources: {{guaranteed: {0}}}\n",
                                               fmt::format("{{memory: {}, vcore: {}m}}", asks * 5, asks / 2)));
    workload.sizes = {{{"memory", 10 * per_node}, {"vcore", per_node}}, {{"memory", 10}, {"vcore", 1}}};
    add_nodes(workload, nodes, 0);
    workload.applications = {{"application-a", "root.a"}, {"application-b", "root.b"}};
    for (std::uint32_t i = 0; i < asks; ++i) workload.asks.push_back({i < asks / 2 ? 0U : 1U, 1});
    return workload;
}

Workload make_tree(const TreeParameters& p) {
    Workload workload;
    const std::int64_t percent = p.node_percent;
    workload.sizes.push_back({{"memory", 65536 * kMiB * percent / 100},
                              {"vcore", 32'000 * percent / 100},
                              {"pods", 110 * std::max<std::int64_t>(percent, 100) / 100}});
    for (std::uint32_t s = 0; s < p.shapes; ++s) workload.sizes.push_back(tree_size(s, p.shapes));
    workload.config = partition(p.order, tree_queues(p, workload.sizes[0]), limits_text(p));
    add_nodes(workload, p.nodes, 0);
    const std::uint32_t leaves = std::max(p.parents, 1U) * p.leaves;
    for (std::uint32_t i = 0; i < p.applications; ++i) {
        workload.applications.push_back({fmt::format("application-{:05}", i), leaf_path(p, i % leaves)});
        if (p.users == 0) continue;
        workload.applications.back().user = user_name(i % p.users);
        workload.applications.back().group = group_name(i % p.groups);
    }
    workload.asks.reserve(p.asks);
    for (std::uint32_t i = 0; i < p.asks; ++i) workload.asks.push_back({i % p.applications, 1 + i % p.shapes});
    return workload;
}

Backlog make_backlog(std::uint32_t hopeless, std::uint32_t shapes) {
    constexpr std::uint32_t kNodes = 1000;
    constexpr std::uint32_t kPerNode = 32;
    TreeParameters tree;
    tree.nodes = kNodes;
    tree.asks = 0;
    Backlog backlog{make_tree(tree), kNodes * kPerNode};
    Workload& workload = backlog.workload;
    // asks wait for a node that fits, however long: nothing is reserved (S-402)
    workload.settings.reservations_disabled = true;
    workload.sizes = {{{"memory", kPerNode * 1024 * kMiB}, {"vcore", kPerNode * 1000}, {"pods", 110}},
                      {{"memory", 1024 * kMiB}, {"vcore", 1000}, {"pods", 1}}};
    for (std::uint32_t s = 0; s < shapes; ++s)
        workload.sizes.push_back({{"memory", (1024 + s) * kMiB}, {"vcore", 1100 + s % 7}, {"pods", 1}});
    const auto applications = static_cast<std::uint32_t>(workload.applications.size());
    for (std::uint32_t i = 0; i < backlog.filling; ++i) workload.asks.push_back({i % applications, 1});
    for (std::uint32_t i = 0; i < hopeless; ++i) workload.asks.push_back({i % applications, 2 + i % shapes});
    return backlog;
}

} // namespace yk::bench
