// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeSortPolicy: in which order the nodes of a partition are looked at (S-230). A policy gives each node a score; the
// node with the lowest score comes first, on ties the one with the lower id.

#include <span>
#include <string>
#include <string_view>

namespace yk {

/// What the score of a node is computed from.
struct NodeUse {
    double share = 0; // of its capacity that is in use, weighted by resource type; 0 to 1, above when it is overfull
};

struct NodeSortPolicy {
    std::string_view name; // as in the configuration, `nodesortpolicy.type`
    /// Called whenever something on the node has changed. Finite for finite uses.
    double (*score)(const NodeUse& use) noexcept;
};

/// All there are, in the order in which messages name them. They live as long as the process.
[[nodiscard]] std::span<const NodeSortPolicy> node_sort_policies() noexcept;
/// nullptr: there is none of this name.
[[nodiscard]] const NodeSortPolicy* find_node_sort_policy(std::string_view name) noexcept;
/// `fair, binpacking`
[[nodiscard]] std::string node_sort_policy_names();
/// The policy when the configuration names none.
[[nodiscard]] const NodeSortPolicy& default_node_sort_policy() noexcept;

} // namespace yk
