// SPDX-License-Identifier: Apache-2.0
#include "libcore/reports/passed_node.h"

#include <cmath>

#include "libcore/policies/node_sort_policy.h"

namespace yk {
namespace {

/// The node that the policy `fair` would look at first of those that take the shape; on ties the lowest id.
NodeId emptiest(const PartitionState& state, const Shape& shape) {
    NodeId found;
    double least = 0;
    state.nodes.for_each([&](NodeId id) {
        const Node& node = state.nodes[id];
        if (!node.is_open() || !takes(node, shape)) return;
        const double used = state.nodes.used_share(node);
        if (found.valid() && used >= least) return;
        found = id;
        least = used;
    });
    return found;
}

/// What the ask would change of what nobody can use on the node, in words.
std::string change_text(const PartitionState& state, const Fragmentation& measure, NodeId id, const Shape& shape) {
    const Node& node = state.nodes[id];
    const double change =
        (measure.after(node, shape).fragments - measure.of(measure.idle_of(node))) / measure.weights();
    const auto amount = static_cast<std::int64_t>(std::llround(std::abs(change)));
    if (amount == 0) return "no more";
    return std::to_string(amount) + (change > 0 ? " more" : " less");
}

} // namespace

std::optional<ExplainReason> passed_node(const PartitionState& state, const Shape& shape) {
    const ShapeBoards* const boards = state.nodes.boards();
    if (boards == nullptr || boards->measure().weights() <= 0 || shape.is_pinned()) return std::nullopt;
    const Fragmentation& measure = boards->measure();
    const auto first = state.nodes.find_some(shape, 1, [](NodeId) { return false; });
    const NodeId passed = emptiest(state, shape);
    if (first.empty() || first.front() == passed) return std::nullopt;
    const std::string& chosen = state.nodes[first.front()].id;
    const std::string& resource = state.resources.name(measure.workload().resource);
    return ExplainReason{"NODE_ORDER",
                         chosen,
                         "node " + chosen + " comes first: with the ask on it " +
                             change_text(state, measure, first.front(), shape) + " of " + resource +
                             " is idle that nobody can use; on the emptiest, " + state.nodes[passed].id + ", " +
                             change_text(state, measure, passed, shape),
                         state.map_of(shape.resource),
                         {},
                         {},
                         0};
}

} // namespace yk
