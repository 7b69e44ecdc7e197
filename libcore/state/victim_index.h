// SPDX-License-Identifier: Apache-2.0
#pragma once
// VictimIndex: for every node the most that it could have available if allocations were released, and the scores that
// plans of victims on it had for asks of the same kind. The search for victims then looks only at nodes that may be
// better than the best one so far (section 5 no. 15 of preemption-gang-priority.md).
//
// Knowledge, not state: made by the first attempt that needs it, brought up to date from the nodes that changed,
// dropped when more changed than there are nodes. Its bound for a node may be too good, never too bad, so that the
// search misses no node.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: making it one pass over all allocations; a changed node
// its allocations and a few entries per level, in each board when it is used next; a board one pass over the nodes.

#include <array>
#include <cstdint>
#include <vector>

#include "libcore/nodes/node_collection.h"
#include "libcore/nodes/score_board.h"

namespace yk {

struct PartitionState;

/// For asks of one kind the score of each node (P-060), as far as it is known: a lower bound for any plan on the node,
/// or the exact score of its plan, or kOut when there is none.
using VictimScores = ScoreBoard<std::uint64_t>;

/// Bits of a score (P-060).
inline constexpr std::uint64_t kOptedOutScore = std::uint64_t{1} << 34;
inline constexpr std::uint64_t kOriginatorScore = std::uint64_t{1} << 33;

/// Amounts that a node would have available, of the types with lanes.
struct Reach {
    static constexpr std::size_t kCounted = 4;

    std::uint64_t leaves = 0;                   // bit (index mod 64) of the leaves that its allocations are in
    std::array<Lanes, kCounted> with_largest{}; // with the largest 1, 2, 3, 4 allocations of each type released
    Lanes plain{};                              // with all released that are neither opted out nor originators
    Lanes agreed{};                             // with all released that are not opted out
    Lanes all{};                                // with all released
    bool open = false;                          // schedulable and not reserved; the others are not found

    /// A bound: no plan for an ask that needs `need` has a lower score; VictimScores::kOut: there is no plan (P-060).
    [[nodiscard]] std::uint64_t lowest_score(const Lanes& need, std::uint64_t candidate_leaves) const noexcept;
};

/// The bit of a leaf in Reach::leaves.
[[nodiscard]] inline std::uint64_t bit_of(std::uint32_t leaf_index) noexcept {
    return std::uint64_t{1} << (leaf_index % 64);
}

class VictimIndex {
public:
    /// Which allocations of a leaf may be victims, and in which order, as far as that depends on leaves and priorities.
    /// On an unchanged node whose leaves all have equal terms, equal asks have equal plans, unless a rule of protection
    /// forbids a victim.
    struct Term {
        std::uint32_t leaf = 0;
        bool freely = false;     // no rule of protection forbids its allocations, but for `never`
        bool fenced = false;     // `shift` is the priority of all, not added to it
        std::uint64_t never = 0; // an allocation with an amount of these types is no victim
        std::int64_t shift = 0;
        std::int64_t own = 0; // the ask's priority where the two queues meet

        friend bool operator==(const Term&, const Term&) = default;
    };
    struct Terms {
        std::vector<Term> leaves; // with candidates, by index
        bool freely = false;      // no rule limits what the queue of the ask takes

        [[nodiscard]] std::uint64_t bits() const noexcept; // bit_of() of each
    };
    struct Board {
        Terms terms;
        VictimScores scores;
        std::size_t seen = 0; // of log_
        std::uint64_t used = 0;
    };
    /// What is known for asks of one size.
    struct Kind {
        Resource ask;
        std::vector<DeviceDemand> devices; // that the asks state
        Resource most;                     // no plan that is on a board takes more than this in all
        std::vector<Board> boards;
        std::uint64_t used = 0;
    };

    /// To be called when the allocations of the node changed, or which of them may be victims. Requests no memory
    /// unless the index is in use.
    void node_changed(NodeId id) noexcept {
        if (nodes_.empty() || (!changed_.empty() && changed_.back() == id)) return;
        changed_.push_back(id);
        if (changed_.size() > nodes_.size() + kSlack) drop();
    }
    /// To be called before what follows is used. REQUIRES: the nodes are refreshed.
    void bring_up_to_date(const PartitionState& state);

    /// The first open node in id order where the amounts are available and fits(NodeId) is true; none: there is no such
    /// node.
    template <class F>
    [[nodiscard]] NodeId first_free(const Lanes& need, F&& fits) const {
        return first_free_below(max_available_.size() - 1, 0, need, fits);
    }
    /// What is known for asks of this size, made when there is nothing; the least recently used one is dropped.
    [[nodiscard]] Kind& kind(const Shape& ask);
    /// The scores of the nodes for asks of the kind, by position.
    [[nodiscard]] VictimScores& board(Kind& kind, const Terms& terms, const Lanes& need);
    /// A lower bound for the score on a node, from its allocations alone.
    [[nodiscard]] std::uint64_t bound(std::size_t at, const Lanes& need, std::uint64_t leaves) const noexcept {
        return reaches_[at].lowest_score(need, leaves);
    }
    [[nodiscard]] NodeId node_at(std::size_t at) const noexcept { return nodes_[at]; }

private:
    static constexpr std::size_t kSpan = 16;
    static constexpr std::size_t kSlack = 16; // changes beyond the nodes before all is dropped
    static constexpr std::size_t kKinds = 32; // kept
    static constexpr std::size_t kBoards = 4; // of each
    static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

    void drop() noexcept;
    void build(const PartitionState& state);
    [[nodiscard]] bool update(const PartitionState& state);
    void look_at(const PartitionState& state, std::size_t at);
    void sum_up(std::size_t level, std::size_t at);
    template <class F>
    [[nodiscard]] NodeId first_free_below(std::size_t level, std::size_t at, const Lanes& need, F&& fits) const {
        if (!within(need, max_available_[level][at])) return {};
        if (level == 0) return fits(nodes_[at]) ? nodes_[at] : NodeId{};
        const std::size_t end = std::min((at + 1) * kSpan, max_available_[level - 1].size());
        for (std::size_t below = at * kSpan; below < end; ++below)
            if (const NodeId found = first_free_below(level - 1, below, need, fits); found.valid()) return found;
        return {};
    }

    std::vector<NodeId> nodes_; // in id order; empty: not in use
    std::vector<std::uint64_t> ranks_;
    std::vector<std::uint32_t> positions_; // by index of the id
    std::vector<Reach> reaches_;
    std::vector<std::vector<Lanes>> max_available_; // what open nodes have available; above: the maxima of 16 below
    std::vector<NodeId> changed_;
    std::vector<std::uint32_t> log_; // positions that changed since the index was made, as long as it is not too long
    std::vector<Kind> kinds_;
    std::uint64_t uses_ = 0;
};

} // namespace yk
