// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/shortage.h"

#include <vector>

#include "libcore/config/suggest.h"
#include "libcore/state/partition_state.h"

namespace yk {

namespace {

std::vector<std::string_view> offered_types(const PartitionState& state) {
    std::vector<std::string_view> names;
    state.named(state.capacity).for_each([&](std::string_view name, std::int64_t amount) {
        if (amount > 0) names.push_back(name);
    });
    return names;
}

/// Whether only the size of the cluster refuses the ask, and no limit that is configured.
bool is_cluster_full(const PartitionState& state, const Allocation& ask) {
    const Resource& wanted = state.resource_of(ask);
    for (const Queue* queue = state.applications[ask.application].queue; !queue->is_root(); queue = queue->parent)
        if (!queue->headroom_allows(wanted)) return false;
    return !state.queues.root().headroom_allows(wanted);
}

} // namespace

std::string unoffered_text(const PartitionState& state, const Resource& wanted) {
    std::string missing, meant;
    state.named(wanted).for_each([&](std::string_view name, std::int64_t amount) {
        if (amount <= 0 || state.capacity.get(state.resources.find(name)) > 0) return;
        missing += (missing.empty() ? "" : ", ") + std::string{name};
        if (meant.empty()) meant = config::nearest(name, offered_types(state));
    });
    if (missing.empty()) return {};
    return "no node offers " + missing + (meant.empty() ? "" : ", did you mean " + meant + "?");
}

std::string last_reason_text(const PartitionState& state, const Allocation& ask) {
    if (!ask.group.valid() || ask.is(Allocation::Parked)) return {};
    const AskGroup::Note note = state.groups[ask.group].note;
    if (note == AskGroup::Note::Queue) return is_cluster_full(state, ask) ? "The cluster is full" : "";
    if (note != AskGroup::Note::Nodes) return {};
    if (std::string missing = unoffered_text(state, state.resource_of(ask)); !missing.empty()) {
        missing.front() = 'N'; // a sentence of the log begins with a capital
        return missing;
    }
    const Shape& shape = state.shapes[ask.shape];
    return shape.is_pinned() ? "No room on its node " + shape.required_node : "No node has room";
}

} // namespace yk
