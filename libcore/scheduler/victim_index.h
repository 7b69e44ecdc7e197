#pragma once
// VictimIndex: what every node could give at most if its allocations went, and what plans of victims have cost asks of
// the same kind on it, so that the search for victims looks only at nodes that may be better than the best one so far
// (section 5 no. 15 of the preemption specification).
//
// Knowledge, not state: made by the first attempt that needs it, brought up to date from the nodes that changed,
// dropped when more changed than there are nodes. What it says of a node may be too good, never too bad, so the search
// is exact.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: making it one pass over all allocations; a changed node
// its allocations and a few entries per level, in each board when it is used next; a board one pass over the nodes.

#include <array>
#include <cstdint>
#include <vector>

#include "libcore/objects/node_collection.h"
#include "libcore/scheduler/score_board.h"

namespace yk {

struct PartitionState;

/// Bits of a score (P-060).
inline constexpr std::uint64_t kOptedOutScore = std::uint64_t{1} << 34;
inline constexpr std::uint64_t kOriginatorScore = std::uint64_t{1} << 33;

/// Amounts that a node would have available, of the types with lanes.
struct Reach {
    static constexpr std::size_t kFew = 4;

    std::uint64_t leaves = 0;      // bit (index mod 64) of the leaves that its allocations are in
    std::array<Lanes, kFew> few{}; // with the largest 1, 2, 3, 4 allocations of each type gone
    Lanes plain{};                 // with all gone that are neither opted out nor originators
    Lanes agreed{};                // with all gone that are not opted out
    Lanes all{};                   // with all gone
    bool open = false;             // schedulable and not reserved; the others are not found

    /// No plan for an ask that needs `need` has a lower score (P-060); ScoreBoard::kOut: there is no plan.
    [[nodiscard]] std::uint64_t lowest_score(const Lanes& need, std::uint64_t candidate_leaves) const noexcept;
};

/// The bit of a leaf in Reach::leaves.
[[nodiscard]] inline std::uint64_t bit_of(std::uint32_t leaf_index) noexcept {
    return std::uint64_t{1} << (leaf_index % 64);
}

class VictimIndex {
public:
    /// Who of a leaf may be taken, and in which order, as far as leaves and priorities tell. Where they are equal for
    /// all leaves on a node that did not change, equal asks have equal plans there, unless a rule of protection stands
    /// against a victim.
    struct Term {
        std::uint32_t leaf = 0;
        bool freely = false;     // no rule does, but for `never`
        bool fenced = false;     // `shift` is the priority of all, not added to it
        std::uint64_t never = 0; // who has something of these types is refused
        std::int64_t shift = 0;
        std::int64_t own = 0; // the ask's priority where the two queues meet

        friend bool operator==(const Term&, const Term&) = default;
    };
    struct Terms {
        std::vector<Term> leaves; // with candidates, by index
        bool freely = false;      // no rule stands against what the ask's queue takes

        [[nodiscard]] std::uint64_t bits() const noexcept; // bit_of() them
    };
    struct Board {
        Terms terms;
        ScoreBoard scores;
        std::size_t seen = 0; // of log_
        std::uint64_t used = 0;
    };
    /// What is known for asks of one size.
    struct Kind {
        Resource ask;
        Resource most; // no plan that is on a board takes more than this in all
        std::vector<Board> boards;
        std::uint64_t used = 0;
    };

    /// The node's contents changed, or who of it may go. Allocation free unless the index is in use.
    void node_changed(NodeId id) {
        if (nodes_.empty() || (!changed_.empty() && changed_.back() == id)) return;
        changed_.push_back(id);
        if (changed_.size() > nodes_.size() + kSlack) drop();
    }
    /// REQUIRES: the nodes are refreshed. Afterwards the rest may be used.
    void bring_up_to_date(const PartitionState& state);

    /// The first open node in id order where the amounts are available and `fits(NodeId)`; none.
    template <class F>
    [[nodiscard]] NodeId first_free(const Lanes& need, F&& fits) const {
        return first_free_below(rooms_.size() - 1, 0, need, fits);
    }
    [[nodiscard]] Kind& kind(const Resource& ask);
    /// The scores of the nodes for asks of the kind, by position.
    [[nodiscard]] ScoreBoard& board(Kind& kind, const Terms& terms, const Lanes& need);
    /// What a score is at least, whatever plans were made.
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

    void drop();
    void build(const PartitionState& state);
    [[nodiscard]] bool update(const PartitionState& state);
    void look_at(const PartitionState& state, std::size_t at);
    void sum_up(std::size_t level, std::size_t at);
    template <class F>
    [[nodiscard]] NodeId first_free_below(std::size_t level, std::size_t at, const Lanes& need, F&& fits) const {
        if (!within(need, rooms_[level][at])) return {};
        if (level == 0) return fits(nodes_[at]) ? nodes_[at] : NodeId{};
        const std::size_t end = std::min((at + 1) * kSpan, rooms_[level - 1].size());
        for (std::size_t below = at * kSpan; below < end; ++below)
            if (const NodeId found = first_free_below(level - 1, below, need, fits); found.valid()) return found;
        return {};
    }

    std::vector<NodeId> nodes_; // in id order; empty: not in use
    std::vector<std::uint64_t> ranks_;
    std::vector<std::uint32_t> positions_; // by index of the id
    std::vector<Reach> reaches_;
    std::vector<std::vector<Lanes>> rooms_; // what open nodes have available; above: the maxima of 16 below
    std::vector<NodeId> changed_;
    std::vector<std::uint32_t> log_; // positions that changed since the index was made, as long as it is not too long
    std::vector<Kind> kinds_;
    std::uint64_t uses_ = 0;
};

} // namespace yk
