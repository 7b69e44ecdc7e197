#include "libcore/scheduler/victim_index.h"

#include <utility>

#include "libcore/scheduler/partition_state.h"

namespace yk {

namespace {

Reach reach_of(const PartitionState& state, const Node& node) {
    if (!node.is_open()) return {};
    ReachSum sum{node.available};
    for (const AllocationId id : node.allocations) {
        const Allocation& each = state.allocations[id];
        if (each.is(Allocation::Preempted) || each.is(Allocation::Released)) continue;
        if (state.shapes[each.shape].is_pinned()) continue;
        sum.add(state.resource_of(each), each.is(Allocation::PreemptSelf), each.is(Allocation::Originator),
                state.applications[each.application].queue->index);
    }
    return sum.sum();
}

} // namespace

std::uint64_t Reach::lowest_score(const Lanes& need, std::uint64_t candidate_leaves) const noexcept {
    if (!open || (leaves & candidate_leaves) == 0 || !within(need, all)) return 0;
    std::uint64_t count = 1;
    while (count <= kFew && !within(need, few[count - 1])) ++count;
    if (within(need, plain)) return count;
    return (within(need, agreed) ? kOriginatorScore : kOptedOutScore) + count;
}

void Reach::merge(const Reach& other) noexcept {
    if (!other.open) return;
    open = true;
    leaves |= other.leaves;
    raise(free, other.free);
    for (std::size_t i = 0; i < kFew; ++i) raise(few[i], other.few[i]);
    raise(plain, other.plain);
    raise(agreed, other.agreed);
    raise(all, other.all);
}

ReachSum::ReachSum(const Resource& available)
    : available_(available), plain_(available), agreed_(available), all_(available) {}

void ReachSum::add(const Resource& size, bool agreed, bool originator, std::uint32_t leaf) {
    leaves_ |= bit_of(leaf);
    all_.add(size);
    if (agreed) agreed_.add(size);
    if (agreed && !originator) plain_.add(size);
    for (ResourceId type = 0; type < kLanes; ++type) {
        std::int64_t amount = size.get(type);
        for (std::int64_t& each : largest_[type])
            if (amount > each) std::swap(amount, each);
    }
}

Reach ReachSum::sum() const {
    Reach reach;
    reach.open = true;
    reach.leaves = leaves_;
    reach.free = lanes_of(available_);
    reach.plain = lanes_of(plain_);
    reach.agreed = lanes_of(agreed_);
    reach.all = lanes_of(all_);
    for (ResourceId type = 0; type < kLanes; ++type) {
        std::int64_t sum = available_.get(type);
        for (std::size_t i = 0; i < Reach::kFew; ++i) {
            sum = sat_add(sum, largest_[type][i]);
            reach.few[i][type] = lane_of(sum);
        }
    }
    return reach;
}

void VictimIndex::build(const PartitionState& state) {
    drop();
    nodes_.clear();
    ranks_.clear();
    positions_.clear();
    std::vector<Reach> reaches;
    reaches.reserve(state.nodes.size());
    state.nodes.for_each([&](NodeId id) {
        if (id.index >= positions_.size()) positions_.resize(id.index + 1, kUnknown);
        positions_[id.index] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back(id);
        ranks_.push_back(state.nodes[id].rank);
        reaches.push_back(reach_of(state, state.nodes[id]));
    });
    if (reaches.empty()) reaches.emplace_back();
    levels_.push_back(std::move(reaches));
    while (levels_.back().size() > 1) {
        const std::size_t above = (levels_.back().size() - 1) / kSpan + 1;
        levels_.emplace_back(above);
        for (std::size_t at = 0; at < above; ++at) sum_up(levels_.size() - 1, at);
    }
}

void VictimIndex::sum_up(std::size_t level, std::size_t at) {
    const std::vector<Reach>& below = levels_[level - 1];
    Reach sum;
    const std::size_t end = std::min((at + 1) * kSpan, below.size());
    for (std::size_t i = at * kSpan; i < end; ++i) sum.merge(below[i]);
    levels_[level][at] = sum;
}

/// False: nodes came or went, or their order has other labels.
bool VictimIndex::update(const PartitionState& state) {
    if (levels_.empty() || nodes_.size() != state.nodes.size()) return false;
    for (const NodeId id : changed_)
        if (id.index >= positions_.size() || positions_[id.index] == kUnknown) return false;
    for (const NodeId id : changed_) {
        std::size_t at = positions_[id.index];
        const Node& node = state.nodes[id];
        if (ranks_[at] != node.rank) return false;
        levels_[0][at] = reach_of(state, node);
        for (std::size_t level = 1; level < levels_.size(); ++level) sum_up(level, at /= kSpan);
    }
    changed_.clear();
    return true;
}

void VictimIndex::bring_up_to_date(const PartitionState& state) {
    if (!update(state)) build(state);
}

} // namespace yk
