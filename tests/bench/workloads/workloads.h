// SPDX-License-Identifier: Apache-2.0
#pragma once
// The workloads of docs/benchmarks.md and the parameters they vary with.

#include <cstdint>
#include <string>

#include "libcore/base/result.h"
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

/// Given: against fragmentation, too, with the asks of the workload as those that are expected, instead of learnt ones.
enum class NodeOrder { Fair, BinPacking, Fragmentation, Given };

/// `fair`, `binpacking`, `fragmentation` or `fragmentation given`.
[[nodiscard]] std::string name_of(NodeOrder order);
/// The policy.
[[nodiscard]] std::string policy_of(NodeOrder order);

/// W2 and everything made like it: parents x leaves with guaranteed and max, asks of 20 shapes (or `shapes`, then of
/// sizes between the same bounds), application i in leaf i mod leaves, ask i of application i mod applications.
struct TreeParameters {
    std::uint32_t nodes = 5000;
    std::uint32_t parents = 10; // 0: the leaves stand under root
    std::uint32_t leaves = 10;  // of each parent
    std::uint32_t applications = 1000;
    std::uint32_t asks = 50'000;
    std::uint32_t shapes = 20;
    std::uint32_t node_percent = 100; // size of a node; 100: 64 GiB, 32,000 vcore, 110 pods (never fewer)
    std::uint32_t users = 0;          // W10: of the applications, each with a limit at root and at its parent queue
    std::uint32_t groups = 0;         // the same; every tenth may use half of what its asks want
    NodeOrder order = NodeOrder::Fair;
};

[[nodiscard]] Workload make_two_queues(std::uint32_t nodes, std::uint32_t asks); // W1
[[nodiscard]] Workload make_tree(const TreeParameters& parameters);              // W2, W5, W6, W9, W10, scaling
/// W3. Error: the files are not in `folder`, or cannot be read.
[[nodiscard]] Result<Workload> make_openb(const std::string& folder, NodeOrder order);

/// W4: `asks` first fill 1,000 nodes, then come `hopeless` of `shapes` sizes that fit nowhere.
struct Backlog {
    Workload workload;
    std::uint32_t filling = 0; // the first asks, all of size 1
};
[[nodiscard]] Backlog make_backlog(std::uint32_t hopeless, std::uint32_t shapes);

} // namespace yk::bench
