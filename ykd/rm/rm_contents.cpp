// SPDX-License-Identifier: Apache-2.0
#include "ykd/rm/rm_contents.h"

#include "libcore/base/pluralize.h"
#include "libcore/reports/snapshot.h"
#include "ykd/owner/rm_owner.h"

namespace yk::service {

void RmContents::add(const RmContents& other) {
    nodes += other.nodes;
    applications += other.applications;
    allocations += other.allocations;
    pending_asks += other.pending_asks;
}

std::string RmContents::text() const {
    std::vector<std::string> parts;
    const auto name = [&](std::int64_t count, const char* noun) {
        if (count != 0) parts.push_back(pluralize(count, noun));
    };
    name(nodes, "node");
    name(applications, "application");
    name(allocations, "allocation");
    name(pending_asks, "pending ask");
    if (parts.empty()) return "nothing";
    std::string text = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) text += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return text;
}

wire::Value RmContents::value() const {
    return {
        {"nodes", nodes}, {"applications", applications}, {"allocations", allocations}, {"pendingAsks", pending_asks}};
}

RmContents contents_of(RmOwner& owner) {
    RmContents contents;
    const ClusterContext* context = owner.context();
    if (context == nullptr) return contents;
    contents.held = context->holdings();
    for (const std::string& name : context->partition_names())
        if (const PartitionState* state = owner.read(name)) {
            const PartitionView view = partition_view(*state);
            contents.add({view.nodes, view.applications, view.allocations, view.pending_asks, {}, true, {}});
        }
    contents.is_settled = is_settled(owner);
    contents.recovery = owner.recovery().status();
    return contents;
}

} // namespace yk::service
