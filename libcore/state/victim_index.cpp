// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/victim_index.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/state/partition_state.h"

namespace yk {

namespace {

/// Adds up what a node could give, of the types with lanes.
class ReachSum {
public:
    explicit ReachSum(const Resource& available) {
        for (ResourceId type = 0; type < kLanes; ++type)
            available_[type] = plain_[type] = agreed_[type] = all_[type] = available.get(type);
    }
    void add(const Resource& size, bool agreed, bool originator, std::uint32_t leaf) {
        leaves_ |= bit_of(leaf);
        for (ResourceId type = 0; type < kLanes; ++type) {
            std::int64_t amount = size.get(type);
            if (amount == 0) continue;
            all_[type] = sat_add(all_[type], amount);
            if (agreed) agreed_[type] = sat_add(agreed_[type], amount);
            if (agreed && !originator) plain_[type] = sat_add(plain_[type], amount);
            if (amount <= largest_[type].back()) continue;
            for (std::int64_t& each : largest_[type])
                if (amount > each) std::swap(amount, each);
        }
    }
    [[nodiscard]] Reach sum() const {
        Reach reach;
        reach.open = true;
        reach.leaves = leaves_;
        for (ResourceId type = 0; type < kLanes; ++type) {
            reach.plain[type] = lane_of(plain_[type]);
            reach.agreed[type] = lane_of(agreed_[type]);
            reach.all[type] = lane_of(all_[type]);
            std::int64_t sum = available_[type];
            for (std::size_t i = 0; i < Reach::kCounted; ++i) {
                sum = sat_add(sum, largest_[type][i]);
                reach.with_largest[i][type] = lane_of(sum);
            }
        }
        return reach;
    }

private:
    using Amounts = std::array<std::int64_t, kLanes>;
    Amounts available_{}, plain_{}, agreed_{}, all_{};
    std::array<std::array<std::int64_t, Reach::kCounted>, kLanes> largest_{}; // of each type, descending
    std::uint64_t leaves_ = 0;
};

/// The allocations of a node are spread over the whole memory: reading them one by one would wait for each.
void prefetch_allocations(const PartitionState& state, const Node& node) {
    for (const AllocationId id : node.allocations) state.allocations.prefetch(id);
}

Reach reach_of(const PartitionState& state, const Node& node) {
    if (!node.is_open()) return {};
    prefetch_allocations(state, node);
    ReachSum sum{node.available};
    for (const AllocationId id : node.allocations) {
        const Allocation& each = state.allocations[id];
        if (each.is(Allocation::Preempted) || each.is(Allocation::Released)) continue;
        const Shape& shape = state.shapes[each.shape];
        if (shape.is_pinned()) continue;
        sum.add(shape.resource, each.is(Allocation::PreemptSelf), each.is(Allocation::Originator),
                state.applications[each.application].queue->index);
    }
    return sum.sum();
}

} // namespace

std::uint64_t Reach::lowest_score(const Lanes& need, std::uint64_t candidate_leaves) const noexcept {
    if (!open || (leaves & candidate_leaves) == 0 || !within(need, all)) return VictimScores::kOut;
    std::uint64_t count = 1;
    while (count <= kCounted && !within(need, with_largest[count - 1])) ++count;
    if (within(need, plain)) return count;
    return (within(need, agreed) ? kOriginatorScore : kOptedOutScore) + count;
}

void VictimIndex::drop() noexcept {
    nodes_.clear();
    ranks_.clear();
    positions_.clear();
    reaches_.clear();
    max_available_.clear();
    changed_.clear();
    log_.clear();
    kinds_.clear();
}

void VictimIndex::build(const PartitionState& state) {
    drop();
    const std::size_t count = std::max<std::size_t>(state.nodes.size(), 1); // one that is not open stands for none
    nodes_.reserve(count);
    reaches_.resize(count);
    max_available_.emplace_back(count, Lanes{-1, -1, -1, -1});
    state.nodes.for_each([&](NodeId id) {
        if (id.index >= positions_.size()) positions_.resize(id.index + 1, kUnknown);
        positions_[id.index] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back(id);
        ranks_.push_back(state.nodes[id].rank);
        look_at(state, nodes_.size() - 1);
    });
    while (max_available_.back().size() > 1) {
        const std::size_t above = (max_available_.back().size() - 1) / kSpan + 1;
        max_available_.emplace_back(above);
        for (std::size_t at = 0; at < above; ++at) sum_up(max_available_.size() - 1, at);
    }
}

void VictimIndex::look_at(const PartitionState& state, std::size_t at) {
    const Node& node = state.nodes[nodes_[at]];
    reaches_[at] = reach_of(state, node);
    max_available_[0][at] = node.is_open() ? lanes_of(node.available) : Lanes{-1, -1, -1, -1};
}

void VictimIndex::sum_up(std::size_t level, std::size_t at) {
    const std::vector<Lanes>& below = max_available_[level - 1];
    Lanes most{-1, -1, -1, -1};
    const std::size_t end = std::min((at + 1) * kSpan, below.size());
    for (std::size_t i = at * kSpan; i < end; ++i) raise(most, below[i]);
    max_available_[level][at] = most;
}

/// Looks at the changed nodes again. False, when nodes were added or removed, or got new ranks: build() is needed.
bool VictimIndex::update(const PartitionState& state) {
    if (nodes_.empty() || nodes_.size() != state.nodes.size()) return false;
    for (const NodeId id : changed_) {
        const bool known = id.index < positions_.size() && positions_[id.index] != kUnknown;
        if (!known || !state.nodes.alive(id) || ranks_[positions_[id.index]] != state.nodes[id].rank) return false;
    }
    for (const NodeId id : changed_) {
        std::size_t at = positions_[id.index];
        log_.push_back(static_cast<std::uint32_t>(at));
        look_at(state, at);
        for (std::size_t level = 1; level < max_available_.size(); ++level) sum_up(level, at /= kSpan);
    }
    changed_.clear();
    if (log_.size() > 4 * nodes_.size() + kSlack) { // boards that were not used for so long are made again
        log_.clear();
        kinds_.clear();
    }
    return true;
}

void VictimIndex::bring_up_to_date(const PartitionState& state) {
    YK_ASSUME(!state.nodes.has_dirty(), "changed nodes must be filed before their allocations are looked at");
    if (!update(state)) build(state);
}

namespace {

/// The element that `is_it` accepts; otherwise a new one, which replaces the least recently used when there are `keep`.
template <class T, class F>
T& recent(std::vector<T>& all, std::size_t keep, F&& is_it) {
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    if (found != all.end()) return *found;
    if (all.size() < keep) return all.emplace_back();
    const auto oldest =
        std::min_element(all.begin(), all.end(), [](const T& a, const T& b) { return a.used < b.used; });
    *oldest = T{};
    return *oldest;
}

/// Bits of the leaves whose terms differ; all when what the ask's queue may take differs.
std::uint64_t difference(const VictimIndex::Terms& a, const VictimIndex::Terms& b) {
    if (a.freely != b.freely) return ~std::uint64_t{0};
    std::uint64_t bits = 0;
    auto left = a.leaves.begin(), right = b.leaves.begin();
    while (left != a.leaves.end() || right != b.leaves.end()) {
        const bool only_left = right == b.leaves.end() || (left != a.leaves.end() && left->leaf < right->leaf);
        const bool only_right = left == a.leaves.end() || (right != b.leaves.end() && right->leaf < left->leaf);
        if (only_left || only_right || !(*left == *right)) bits |= bit_of(only_right ? right->leaf : left->leaf);
        if (!only_right) ++left;
        if (!only_left) ++right;
    }
    return bits;
}

} // namespace

std::uint64_t VictimIndex::Terms::bits() const noexcept {
    std::uint64_t bits = 0;
    for (const Term& term : leaves) bits |= bit_of(term.leaf);
    return bits;
}

VictimIndex::Kind& VictimIndex::kind(const Shape& ask) {
    Kind& kind = recent(kinds_, kKinds, [&](const Kind& each) {
        return each.ask.deep_equals(ask.resource) && each.devices == ask.devices;
    });
    if (kind.used == 0) {
        kind.ask = ask.resource;
        kind.devices = ask.devices;
        kind.most = ask.resource;
        kind.most.add(ask.resource);
    }
    kind.used = ++uses_;
    return kind;
}

/// The board with the same terms, or one with nearly the same: then only nodes with allocations of the leaves that
/// differ are computed again.
VictimScores& VictimIndex::board(Kind& kind, const Terms& terms, const Lanes& need) {
    constexpr int kNearly = 8;
    std::uint64_t differs = ~std::uint64_t{0};
    const Board* nearest = nullptr;
    for (const Board& each : kind.boards) {
        const std::uint64_t bits = difference(each.terms, terms);
        if (std::popcount(bits) > kNearly || std::popcount(bits) >= std::popcount(differs)) continue;
        nearest = &each;
        differs = bits;
    }
    Board& board = recent(kind.boards, kBoards, [&](const Board& each) { return &each == nearest; });
    const std::uint64_t leaves = terms.bits();
    const bool is_new = board.used == 0;
    board.used = ++uses_;
    if (is_new) {
        board.scores.fill(nodes_.size(), [&](std::size_t at) { return bound(at, need, leaves); });
    } else if (differs != 0) {
        for (std::size_t at = 0; at < nodes_.size(); ++at)
            if ((reaches_[at].leaves & differs) != 0) board.scores.set(at, bound(at, need, leaves));
    }
    for (std::size_t i = is_new ? log_.size() : board.seen; i < log_.size(); ++i)
        board.scores.set(log_[i], bound(log_[i], need, leaves));
    if (is_new || differs != 0) board.terms = terms;
    board.seen = log_.size();
    return board.scores;
}

} // namespace yk
