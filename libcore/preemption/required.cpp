// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/required.h"

#include <algorithm>
#include <utility>

#include "libcore/preemption/node_space.h"
#include "libcore/resources/share.h"

namespace yk {

namespace {

struct Victim {
    AllocationId id{};
    const Allocation* allocation = nullptr;
    const Resource* size = nullptr;
    Shares shares; // of the cluster: makes "smaller in all types" a total order
};

int class_of(const Allocation& allocation) {
    if (allocation.is(Allocation::Originator)) return 2;
    return allocation.is(Allocation::PreemptSelf) ? 0 : 1;
}

/// The order of required-node preemption: class, then lower priority, newer, smaller share of the cluster (P-095).
bool goes_before(const Victim& a, const Victim& b) {
    const Allocation& left = *a.allocation;
    const Allocation& right = *b.allocation;
    if (class_of(left) != class_of(right)) return class_of(left) < class_of(right);
    if (left.priority != right.priority) return left.priority < right.priority;
    if (left.created != right.created) return left.created > right.created;
    if (const int shares = compare_shares(a.shares, b.shares); shares != 0) return shares < 0;
    if (left.key.view() != right.key.view()) return left.key.view() < right.key.view();
    return left.arrival < right.arrival;
}

/// Why the allocation on the ask's node may not be taken (P-094).
Excluded excluded(const PartitionState& state, const Allocation& allocation, const Allocation& ask) {
    const Shape& shape = state.shapes[allocation.shape];
    if ((shape.resource.types() & state.resource_of(ask).types()) == 0) return Excluded::Type;
    if (shape.is_pinned()) return Excluded::RequiredNode;
    if (allocation.is(Allocation::Preempted) || allocation.is(Allocation::Released)) return Excluded::Leaving;
    if (allocation.is(Allocation::InFlight)) return Excluded::Leaving;
    return allocation.priority > ask.priority ? Excluded::Priority : Excluded::No;
}

/// Whether it is being preempted already, and not for another ask (P-096).
bool is_freeing(const PartitionState& state, AllocationId id, const Allocation& ask) {
    if (!state.allocations[id].is(Allocation::Preempted)) return false;
    const AllocationId waiting = state.preemption.marks.at(id).ask;
    return !waiting.valid() || &state.allocations[waiting] == &ask;
}

std::vector<Victim> sorted_candidates(const PartitionState& state, const Allocation& ask, const Node& node,
                                      PreemptionAttempt* attempt) {
    std::vector<Victim> victims;
    for (const AllocationId id : node.allocations) {
        const Allocation& each = state.allocations[id];
        const Excluded why = excluded(state, each, ask);
        if (attempt != nullptr) ++attempt->allocations[static_cast<std::size_t>(why)];
        if (why != Excluded::No) continue;
        const Resource& size = state.resource_of(each);
        victims.push_back({id, &each, &size, shares_of(size, &state.capacity)});
    }
    std::sort(victims.begin(), victims.end(), goes_before);
    return victims;
}

/// Those of the candidates, in their order, without whom the ask fits; nullopt: all are not enough.
std::optional<std::vector<AllocationId>> victims_for(NodeSpace space, const std::vector<Victim>& candidates) {
    std::vector<Victim> taken;
    for (const Victim& each : candidates) {
        if (space.fits()) break;
        if (!space.helped_by(each.id, *each.size)) continue;
        space.take_off(each.id, *each.size);
        taken.push_back(each);
    }
    if (!space.fits()) return std::nullopt;
    std::vector<AllocationId> victims;
    for (std::size_t i = taken.size(); i-- > 0;) { // nobody is preempted without need (D-45)
        space.put_back(taken[i].id, *taken[i].size);
        if (space.fits()) continue;
        space.take_off(taken[i].id, *taken[i].size);
        victims.insert(victims.begin(), taken[i].id);
    }
    return victims;
}

} // namespace

std::optional<std::vector<AllocationId>> required_node_victims(const PartitionState& state, const Allocation& ask,
                                                               const Node& node, PreemptionAttempt* attempt) {
    NodeSpace space{node, state.shapes[ask.shape]};
    for (const AllocationId id : node.allocations)
        if (is_freeing(state, id, ask)) space.take_off(id, state.resource_of(state.allocations[id]));
    const std::vector<Victim> candidates = sorted_candidates(state, ask, node, attempt);
    std::vector<AllocationId> leaving;
    leaving.reserve(candidates.size());
    for (const Victim& each : candidates) leaving.push_back(each.id);
    std::optional<std::vector<AllocationId>> fewest;
    for (NodeSpace& choice : space.choices(leaving))
        if (auto victims = victims_for(std::move(choice), candidates);
            victims && (!fewest || victims->size() < fewest->size()))
            fewest = std::move(victims);
    return fewest;
}

} // namespace yk
