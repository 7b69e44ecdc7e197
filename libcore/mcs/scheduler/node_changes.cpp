// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/node_changes.h"

#include <string>
#include <string_view>

namespace yk::mcs {
namespace {

constexpr std::string_view kPartitionAttribute = "si/node-partition";

[[nodiscard]] ChangeNode::Content content_of(const Node& node) {
    return {node.attributes, node.capacity, node.occupied};
}

[[nodiscard]] std::string_view partition_of(const Node& node) {
    const auto found = node.attributes.find(kPartitionAttribute);
    return found == node.attributes.end() ? std::string_view{} : std::string_view{found->second};
}

[[nodiscard]] ChangeNode created(const Node& node) {
    const NodeAction action = node.is_schedulable ? NodeAction::Create : NodeAction::CreateDrain;
    return {node.meta.id, action, content_of(node)};
}

[[nodiscard]] std::vector<ChangeNode> updated(const Node& registered, const Node& wanted) {
    std::vector<ChangeNode> changes;
    const std::string& id = wanted.meta.id;
    if (registered.is_schedulable && !wanted.is_schedulable) changes.push_back({id, NodeAction::Drain, {}});
    if (content_of(registered) != content_of(wanted)) changes.push_back({id, NodeAction::Update, content_of(wanted)});
    if (!registered.is_schedulable && wanted.is_schedulable) changes.push_back({id, NodeAction::Schedulable, {}});
    return changes;
}

} // namespace

std::vector<ChangeNode> node_changes(const Node* registered, const Node* wanted) {
    const bool is_same = registered != nullptr && wanted != nullptr && registered->meta.uid == wanted->meta.uid &&
                         partition_of(*registered) == partition_of(*wanted);
    if (is_same) return updated(*registered, *wanted);
    std::vector<ChangeNode> changes;
    if (registered != nullptr) changes.push_back({registered->meta.id, NodeAction::Decommission, {}});
    if (wanted != nullptr) changes.push_back(created(*wanted));
    return changes;
}

} // namespace yk::mcs
