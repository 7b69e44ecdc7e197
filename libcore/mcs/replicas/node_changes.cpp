// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/node_changes.h"

#include <optional>
#include <string>
#include <utility>

namespace yk::mcs {
namespace {

[[nodiscard]] ChangeNode::Content content_of(const Node& node) {
    return {node.attributes, node.capacity, node.occupied};
}

[[nodiscard]] ChangeNode change_of(const Node& node, NodeAction action,
                                   std::optional<ChangeNode::Content> content = {}) {
    return {node.meta.id, partition_of(node), action, std::move(content), {}};
}

[[nodiscard]] ChangeNode created(const Node& node) {
    const NodeAction action = node.is_schedulable ? NodeAction::Create : NodeAction::CreateDrain;
    return change_of(node, action, content_of(node));
}

[[nodiscard]] std::vector<ChangeNode> updated(const Node& registered, const Node& wanted) {
    std::vector<ChangeNode> changes;
    if (registered.is_schedulable && !wanted.is_schedulable) changes.push_back(change_of(wanted, NodeAction::Drain));
    if (content_of(registered) != content_of(wanted))
        changes.push_back(change_of(wanted, NodeAction::Update, content_of(wanted)));
    if (!registered.is_schedulable && wanted.is_schedulable)
        changes.push_back(change_of(wanted, NodeAction::Schedulable));
    return changes;
}

} // namespace

std::string partition_of(const Node& node) {
    const auto found = node.attributes.find(kPartitionAttribute);
    return found == node.attributes.end() ? "default" : found->second;
}

std::vector<ChangeNode> node_changes(const Node* registered, const Node* wanted) {
    const bool is_same = registered != nullptr && wanted != nullptr && registered->meta.uid == wanted->meta.uid &&
                         partition_of(*registered) == partition_of(*wanted);
    if (is_same) return updated(*registered, *wanted);
    std::vector<ChangeNode> changes;
    if (registered != nullptr) changes.push_back(change_of(*registered, NodeAction::Decommission));
    if (wanted != nullptr) changes.push_back(created(*wanted));
    return changes;
}

} // namespace yk::mcs
