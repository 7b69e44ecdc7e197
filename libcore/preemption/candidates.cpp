// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/candidates.h"

#include <algorithm>

#include "libcore/model/priority.h"

namespace yk {

namespace {

/// Whether the size has an amount above zero of one of the types.
bool has_any(const Resource& size, std::uint64_t types) {
    for (types &= size.types(); types != 0; types &= types - 1)
        if (size.get(static_cast<ResourceId>(std::countr_zero(types))) > 0) return true;
    return false;
}

} // namespace

bool goes_before(const Candidate& a, const Candidate& b) noexcept {
    const Allocation& left = *a.allocation;
    const Allocation& right = *b.allocation;
    if (left.is(Allocation::PreemptSelf) != right.is(Allocation::PreemptSelf)) return left.is(Allocation::PreemptSelf);
    if (left.is(Allocation::Originator) != right.is(Allocation::Originator)) return right.is(Allocation::Originator);
    if (a.priority != b.priority) return a.priority < b.priority; // effective priorities (D-39)
    if (left.created != right.created) return left.created > right.created;
    if (left.key.view() != right.key.view()) return left.key.view() < right.key.view();
    return left.arrival < right.arrival; // keys are unique per application only
}

const Queue& fence_root(const Queue& leaf, const Resource& ask) {
    for (const Queue* queue = &leaf;; queue = queue->parent) {
        if (queue->is_root() || queue->properties.preemption_policy == config::PreemptionPolicy::Fence) return *queue;
        const Limit max = queue->effective_max();
        Resource then = queue->allocated;
        then.add(ask);
        const bool within =
            all_common(max.bounds(), then, [&](ResourceId id) { return max.bounds().get(id) >= then.get(id); });
        if (!within) return *queue;
    }
}

Candidates::Candidates(const PartitionState& state, const GuaranteeView& view, const Allocation& ask, const Queue& leaf)
    : state_(state),
      view_(view),
      ask_(ask),
      size_(state.resource_of(ask)),
      leaf_(leaf),
      root_(fence_root(leaf, size_)),
      facts_(state.queues.size()) {}

Excluded Candidates::judge(const Queue& leaf) const {
    if (&leaf == &leaf_) return Excluded::OwnQueue; // never from the ask's own queue (P-003)
    const Queue* above = &leaf;
    while (above != nullptr && above != &root_) above = above->parent;
    if (above == nullptr) return Excluded::Outside; // beyond the fence root (P-007)
    if (leaf.properties.preemption_policy == config::PreemptionPolicy::Disabled) return Excluded::Disabled;
    const std::optional<Resource> left = view_.remaining(leaf);
    return left && !left->has_negative() ? Excluded::Protected : Excluded::No; // within its guarantee (P-005)
}

const Candidates::LeafFacts& Candidates::facts(const Queue& leaf) {
    std::optional<LeafFacts>& facts = facts_[leaf.index];
    if (facts) return *facts;
    const Queue& fork = lowest_common_ancestor(leaf, leaf_);
    const std::int64_t zero = effective_priority(0, leaf, fork);
    const bool fenced = effective_priority(1, leaf, fork) == zero;
    facts = LeafFacts{judge(leaf), {}, fenced, zero, effective_priority(ask_.priority, leaf_, fork)};
    return *facts;
}

Excluded Candidates::excluded(const Allocation& allocation, const Queue& leaf) {
    const Shape& shape = state_.shapes[allocation.shape];
    if ((shape.resource.types() & size_.types()) == 0) return Excluded::Type;
    if (shape.is_pinned()) return Excluded::RequiredNode;
    if (allocation.is(Allocation::Released) || allocation.is(Allocation::Preempted)) return Excluded::Leaving;
    if (allocation.is(Allocation::InFlight)) return Excluded::Leaving; // the RM does not know of it yet
    const LeafFacts& leaf_facts = facts(leaf);
    // one of equal priority may be taken (P-006)
    return leaf_facts.priority(allocation.priority) > leaf_facts.own ? Excluded::Priority : Excluded::No;
}

std::optional<Candidate> Candidates::candidate(AllocationId id) {
    const Allocation& allocation = state_.allocations[id];
    if (!allocation.application.valid()) return std::nullopt; // foreign
    const Queue& leaf = *state_.applications[allocation.application].queue;
    const LeafFacts& leaf_facts = facts(leaf);
    const Excluded why = leaf_facts.verdict == Excluded::No ? excluded(allocation, leaf) : leaf_facts.verdict;
    ++counts_[static_cast<std::size_t>(why)];
    if (why != Excluded::No) return std::nullopt;
    if (has_any(state_.resource_of(allocation), leaf_facts.protection.never)) return std::nullopt;
    return Candidate{id,
                     &allocation,
                     &leaf,
                     &state_.resource_of(allocation),
                     &charge_of(allocation.shape),
                     leaf_facts.priority(allocation.priority),
                     leaf_facts.protection.freely};
}

VictimIndex::Terms Candidates::terms(const Resource& most) {
    VictimIndex::Terms terms;
    terms.freely = view_.may_charge(most);
    for (const Queue* leaf : leaves()) {
        LeafFacts& own = *facts_[leaf->index];
        own.protection = view_.protection(*leaf, most, size_);
        terms.leaves.push_back(
            {leaf->index, own.protection.freely, own.fenced, own.protection.never, own.shift, own.own});
    }
    std::sort(terms.leaves.begin(), terms.leaves.end(), [](const auto& a, const auto& b) { return a.leaf < b.leaf; });
    return terms;
}

std::vector<Candidate> Candidates::on_node(const Node& node) {
    std::vector<Candidate> here;
    for (const AllocationId id : node.allocations)
        if (const auto each = candidate(id)) here.push_back(*each);
    return here;
}

/// The whole victim; with property preemption.charge `ask` no more of each type than the ask requests (P-053).
const Resource& Candidates::charge_of(ShapeId shape) {
    const Resource& whole = state_.shapes[shape].resource;
    if (leaf_.properties.preemption_charge == config::PreemptionCharge::Victim) return whole;
    const auto made = charges_.try_emplace(shape.index); // no binding: clang 14 cannot capture one
    Resource& charge = made.first->second;
    if (made.second)
        whole.for_each([&](ResourceId id, std::int64_t value) {
            charge.set(id, std::min(value, std::max<std::int64_t>(0, size_.get(id))));
        });
    return charge;
}

void Candidates::collect_leaves(const Queue& queue) {
    if (queue.allocated.is_zero()) return;
    if (queue.leaf) {
        const LeafFacts& leaf_facts = facts(queue);
        // every allocation of the leaf has at least this priority: if it is too high, none can be taken
        const bool above =
            queue.lowest_placed != INT32_MAX && leaf_facts.priority(queue.lowest_placed) > leaf_facts.own;
        if (leaf_facts.verdict == Excluded::No && !above) leaves_->push_back(&queue);
    }
    for (const auto& [name, child] : queue.children) collect_leaves(*child);
}

const std::vector<const Queue*>& Candidates::leaves() {
    if (!leaves_) {
        leaves_.emplace();
        collect_leaves(root_);
    }
    return *leaves_;
}

std::size_t Candidates::count(std::size_t enough) {
    std::size_t sum = 0;
    for (const Queue* leaf : leaves())
        for (const ApplicationId id : leaf->applications) {
            sum += state_.applications[id].allocations.size();
            if (sum > enough) return sum;
        }
    return sum;
}

const std::vector<Candidate>& Candidates::all() {
    if (all_) return *all_;
    all_.emplace();
    counts_.fill(0);
    for (const Queue* leaf : leaves())
        for (const ApplicationId id : leaf->applications)
            for (const AllocationId allocation : state_.applications[id].allocations)
                if (const auto each = candidate(allocation)) all_->push_back(*each);
    return *all_;
}

void Candidates::describe(PreemptionAttempt& attempt) const {
    attempt.fence_root = root_.path;
    attempt.allocations = counts_;
    state_.queues.for_each([&](const Queue& queue) {
        if (queue.leaf && facts_[queue.index]) ++attempt.queues[static_cast<std::size_t>(facts_[queue.index]->verdict)];
    });
}

} // namespace yk
