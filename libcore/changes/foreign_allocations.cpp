// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/foreign_allocations.h"

#include <algorithm>

#include "libcore/changes/requests.h"

namespace yk {

std::optional<Refusal> ForeignAllocations::refuse(const AskSpec& spec) {
    const std::string what = "foreign allocation key " + quoted(spec.key);
    if (any_negative(spec.resource)) return Refusal{what + " has negative resources", ElementCode::Negative};
    if (!state_.to_resource(spec.resource)) return too_many_types(what, state_.most_types());
    return refuse_devices(spec, true);
}

std::optional<Refusal> ForeignAllocations::apply(const AskSpec& spec, Instant now) {
    if (spec.node.empty())
        return Refusal{"foreign request: allocation key " + quoted(spec.key) + " names no node",
                       ElementCode::NodeUnknown};
    const NodeId node = state_.nodes.find(spec.node);
    if (!node.valid())
        return Refusal{"failed to find node " + std::string{spec.node} + " for foreign allocation key " +
                           quoted(spec.key),
                       ElementCode::NodeUnknown};
    if (auto refusal = refuse(spec)) return refusal;
    const auto known = by_key_.find(std::string{spec.key});
    if (auto refusal =
            admission_.refuse_ask_claim(spec, {}, known == by_key_.end() ? AllocationId{} : known->second, true))
        return refusal;
    place(spec, node, now);
    return std::nullopt;
}

void ForeignAllocations::place(const AskSpec& spec, NodeId node_id, Instant now) noexcept {
    Node& node = state_.nodes[node_id];
    const Resource before = node.occupied;
    bool resized = false;
    if (const auto known = by_key_.find(std::string{spec.key}); known != by_key_.end()) {
        resized = state_.allocations[known->second].node == node_id;
        if (resized)
            forget(known->second);
        else
            drop(known->second, now);
    }
    const AllocationId id = pending_asks_.make(spec, {}, pending_asks_.shape_of(spec), now);
    Allocation& made = state_.allocations[id];
    made.mark(Allocation::Foreign);
    made.mark(Allocation::Static, find_tag(spec.tags, kForeign) == "static");
    made.mark(Allocation::Placed);
    made.node = node_id;
    made.bound = now;
    made.links.placed.on_node = static_cast<std::uint32_t>(node.foreign.size());
    node.foreign.push_back(id);
    by_key_[std::string{spec.key}] = id;
    const Resource& size = state_.resource_of(made);
    if (node.devices)
        node.devices->take(owner_of(id), state_.shapes[made.shape].device_ask(), said_devices(state_, spec), false);
    state_.ledger.add_occupied(node, size);
    state_.nodes.mark_dirty(node_id, true);
    if (!resized)
        state_.emit({EventType::Node, EventChange::Add, EventDetail::NodeAlloc, node.id, made.key.view(), {}, &size},
                    now);
    if (!node.occupied.equals(before))
        state_.emit({EventType::Node, EventChange::Set, EventDetail::NodeOccupied, node.id, {}, {}, &node.occupied},
                    now);
}

/// Removes it and emits that.
void ForeignAllocations::drop(AllocationId id, Instant now) noexcept {
    Node& node = state_.nodes[state_.allocations[id].node];
    const std::string key{state_.allocations[id].key.view()};
    const Resource size = state_.resource_of(state_.allocations[id]);
    forget(id);
    state_.emit({EventType::Node, EventChange::Remove, EventDetail::NodeAlloc, node.id, key, {}, &size}, now);
    if (!size.is_zero())
        state_.emit({EventType::Node, EventChange::Set, EventDetail::NodeOccupied, node.id, {}, {}, &node.occupied},
                    now);
}

void ForeignAllocations::forget(AllocationId id) noexcept {
    const Allocation& removed = state_.allocations[id];
    Node& node = state_.nodes[removed.node];
    const std::uint32_t at = removed.links.placed.on_node;
    node.foreign[at] = node.foreign.back();
    state_.allocations[node.foreign[at]].links.placed.on_node = at;
    node.foreign.pop_back();
    if (node.devices) node.devices->give_back(owner_of(id));
    state_.ledger.take_occupied(node, state_.resource_of(removed));
    state_.nodes.mark_dirty(removed.node, true);
    by_key_.erase(std::string{removed.key.view()});
    pending_asks_.destroy(id);
}

std::optional<Refusal> ForeignAllocations::release(const ReleaseSpec& spec, Instant now) {
    const auto known = by_key_.find(std::string{spec.key});
    if (known == by_key_.end())
        return Refusal{"foreign allocation key " + quoted(spec.key) + " is unknown", ElementCode::UnknownAllocation};
    drop(known->second, now);
    return std::nullopt;
}

} // namespace yk
