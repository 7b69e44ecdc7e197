#pragma once
// VictimIndex: what every node could give at most if its allocations went, so that the search for victims looks only at
// nodes that may be better than the best one so far (section 5 no. 15 of the preemption specification).
//
//   level 0: one entry per node in id order;  above: each entry the maxima of 16 below
//
// Knowledge, not state: made by the first attempt that needs it, brought up to date from the nodes that changed,
// dropped when more changed than there are nodes. An entry may promise too much (whoever is protected, of higher
// priority or on its way out counts too), never too little, so the search is exact.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: making it one pass over all allocations; a changed node
// its allocations and 16 entries per level; a search the nodes that could be as good as the best, times the levels.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "libcore/objects/node_collection.h"

namespace yk {

struct PartitionState;

/// Bits of a score (P-060).
inline constexpr std::uint64_t kOptedOutScore = std::uint64_t{1} << 34;
inline constexpr std::uint64_t kOriginatorScore = std::uint64_t{1} << 33;

/// Amounts that a node would have available, of the types with lanes.
struct Reach {
    static constexpr std::size_t kFew = 4;

    std::uint64_t leaves = 0;      // bit (index mod 64) of the leaves that its allocations are in
    Lanes free{};                  // with nobody gone
    std::array<Lanes, kFew> few{}; // with the largest 1, 2, 3, 4 allocations of each type gone
    Lanes plain{};                 // with all gone that are neither opted out nor originators
    Lanes agreed{};                // with all gone that are not opted out
    Lanes all{};                   // with all gone
    bool open = false;             // schedulable and not reserved; the others are not found

    /// No plan for an ask that needs `need` has a lower score (P-060); 0: there is no plan.
    [[nodiscard]] std::uint64_t lowest_score(const Lanes& need, std::uint64_t candidate_leaves) const noexcept;
    void merge(const Reach& other) noexcept;
};

/// The bit of a leaf in Reach::leaves.
[[nodiscard]] inline std::uint64_t bit_of(std::uint32_t leaf_index) noexcept {
    return std::uint64_t{1} << (leaf_index % 64);
}

class VictimIndex {
public:
    /// The node's contents changed. Allocation free unless the index is in use.
    void node_changed(NodeId id) {
        if (levels_.empty()) return;
        changed_.push_back(id);
        if (changed_.size() > nodes_.size() + kSpan) drop();
    }
    /// REQUIRES: the nodes are refreshed. Afterwards the searches may be used.
    void bring_up_to_date(const PartitionState& state);

    /// The first open node in id order where the amounts are available and `fits(NodeId)`; none.
    template <class F>
    [[nodiscard]] NodeId first_free(const Lanes& need, F&& fits) const {
        return first_free_below(levels_.size() - 1, 0, need, fits);
    }
    /// visit(NodeId) for open nodes that hold allocations of `leaves`, those that promise the lowest score first, in id
    /// order among equals, while `worthwhile(score, NodeId)` says that such a node, or a later one in that order, may
    /// still win.
    template <class Visit, class Worthwhile>
    void search(const Lanes& need, std::uint64_t leaves, Visit&& visit, Worthwhile&& worthwhile) const {
        std::vector<Open> heap;
        push(heap, levels_.size() - 1, 0, need, leaves);
        while (!heap.empty()) {
            std::pop_heap(heap.begin(), heap.end(), Open::later);
            const Open next = heap.back();
            heap.pop_back();
            if (!worthwhile(next.score, nodes_[next.first])) return;
            if (next.level == 0) {
                visit(nodes_[next.first]);
                continue;
            }
            const std::size_t from = next.at * kSpan;
            const std::size_t to = std::min(from + kSpan, levels_[next.level - 1].size());
            for (std::size_t at = from; at < to; ++at) push(heap, next.level - 1, at, need, leaves);
        }
    }

private:
    static constexpr std::size_t kSpan = 16;
    static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
    struct Open { // a subtree that has not been looked into
        std::uint64_t score;
        std::size_t first; // position of its first node
        std::size_t level, at;
        static bool later(const Open& a, const Open& b) noexcept {
            return a.score != b.score ? a.score > b.score : a.first > b.first;
        }
    };

    void drop() {
        levels_.clear();
        changed_.clear();
    }
    void build(const PartitionState& state);
    [[nodiscard]] bool update(const PartitionState& state);
    void sum_up(std::size_t level, std::size_t at);
    void push(std::vector<Open>& heap, std::size_t level, std::size_t at, const Lanes& need,
              std::uint64_t leaves) const {
        const std::uint64_t score = levels_[level][at].lowest_score(need, leaves);
        if (score == 0) return;
        std::size_t first = at;
        for (std::size_t i = 0; i < level; ++i) first *= kSpan;
        heap.push_back({score, first, level, at});
        std::push_heap(heap.begin(), heap.end(), Open::later);
    }
    template <class F>
    [[nodiscard]] NodeId first_free_below(std::size_t level, std::size_t at, const Lanes& need, F&& fits) const {
        const Reach& reach = levels_[level][at];
        if (!reach.open || !within(need, reach.free)) return {};
        if (level == 0) return fits(nodes_[at]) ? nodes_[at] : NodeId{};
        const std::size_t end = std::min((at + 1) * kSpan, levels_[level - 1].size());
        for (std::size_t below = at * kSpan; below < end; ++below)
            if (const NodeId found = first_free_below(level - 1, below, need, fits); found.valid()) return found;
        return {};
    }

    std::vector<NodeId> nodes_; // in id order
    std::vector<std::uint64_t> ranks_;
    std::vector<std::uint32_t> positions_; // by index of the id
    std::vector<std::vector<Reach>> levels_;
    std::vector<NodeId> changed_;
};

/// Adds up what a node could give.
class ReachSum {
public:
    explicit ReachSum(const Resource& available);
    void add(const Resource& size, bool agreed, bool originator, std::uint32_t leaf);
    [[nodiscard]] Reach sum() const;

private:
    const Resource& available_;
    Resource plain_, agreed_, all_;
    std::array<std::array<std::int64_t, Reach::kFew>, kLanes> largest_{}; // of each type, descending
    std::uint64_t leaves_ = 0;
};

} // namespace yk
