// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeSortPolicy: in which order the nodes of a partition are looked at (S-230). A policy gives each node a score for
// all asks, and the lowest comes first; or it says what each ask gains there, and the most comes first. On ties the
// node with the lower id does.

#include <span>
#include <string>
#include <string_view>

namespace yk {

/// What the score of a node is computed from.
struct NodeUse {
    double share = 0; // of its capacity that is in use, weighted by resource type; 0 to 1, above when it is overfull
};

/// What one ask would change on a node: its fragments, which is what it has idle that can be used by nobody, without
/// the ask and with it (F-022).
struct NodeChange {
    double before = 0;
    double after = 0;
};

/// One of the two functions is there.
struct NodeSortPolicy {
    std::string_view name; // as in the configuration, `nodesortpolicy.type`
    /// The same for all asks. Called whenever something on the node has changed. Finite for finite uses.
    double (*score)(const NodeUse& use) noexcept = nullptr;
    /// What one ask gains on a node that can take it, in fragments; it goes where that is most. Called when the ask
    /// looks for a node and this one has changed. Finite, and the more the fewer fragments there are after it.
    double (*gain_for_ask)(const NodeChange& change) noexcept = nullptr;
    /// Gains are counted in whole steps of this share of the commonest device; less of a difference means nothing.
    double gain_step = 0;
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
