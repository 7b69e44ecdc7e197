// SPDX-License-Identifier: Apache-2.0
#include "tests/support/recovery_text.h"

#include <vector>

#include <fmt/format.h>

namespace yk::testing {

namespace {

std::string prefix_of(const std::string& partition) {
    return partition == "default" ? "" : partition + ":";
}

std::string amounts(const ResourceMapView& map) {
    std::string text;
    for (const auto& [type, value] : map) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", type, value);
    return text;
}

std::string line_of(const QuarantineView& object) {
    const std::string where = prefix_of(object.partition);
    const auto reason = text_of(object.reason);
    switch (object.kind) {
    case RecoveryKind::Nodes: return fmt::format("node {}{}: {}", where, object.node, reason);
    case RecoveryKind::Applications: return fmt::format("application {}{}: {}", where, object.application, reason);
    case RecoveryKind::Allocations: break;
    }
    return fmt::format("allocation {}{}/{} on {}: {}", where, object.application, object.key, object.node, reason);
}

std::string line_of(const IncompleteNodeView& node) {
    std::string text = prefix_of(node.partition) + node.node;
    if (!node.missing.empty()) text += " missing=" + amounts(node.missing);
    if (!node.surplus.empty()) text += " surplus=" + amounts(node.surplus);
    return text + fmt::format(" booked={} has={}", node.booked_allocations, node.allocations);
}

template <class List>
std::string listed(const char* what, const List& list) {
    std::vector<std::string> lines;
    for (const auto& each : list) lines.push_back(line_of(each));
    return lines.empty() ? "" : fmt::format(" {}=[{}]", what, fmt::join(lines, "; "));
}

} // namespace

std::string text_of(const RecoveryView& view) {
    std::string text =
        fmt::format("nodes={} apps={} allocations={} asks={}", view.restored(RecoveryKind::Nodes).count(),
                    view.restored(RecoveryKind::Applications).count(), view.restored(RecoveryKind::Allocations).count(),
                    view.pending_asks());
    text += listed("quarantined", view.quarantine) + listed("incomplete", view.incomplete);
    if (view.unused_tombstones != 0) text += fmt::format(" tombstones={}", view.unused_tombstones);
    if (!view.faults.empty()) text += fmt::format(" faults=[{}]", fmt::join(view.faults, "; "));
    return text;
}

std::string digest_text(const RecoveryView& view) {
    std::string text;
    for (const auto& [name, partition] : view.partitions) {
        text += (text.empty() ? "" : "; ") + name + ":";
        for (const RecoveryKind kind : kRecoveryKinds) {
            const recovery::Digest& digest = partition.restored[static_cast<std::size_t>(kind)];
            text += fmt::format(" {} {} {:016x}", digest.count(), name_of(kind), digest.sum());
        }
    }
    return text;
}

} // namespace yk::testing
