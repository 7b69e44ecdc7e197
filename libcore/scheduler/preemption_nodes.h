#pragma once
// The node phase of queue preemption: the victims that make room on one node (3.6) and the choice between nodes (3.7).
//
// Reads the partition, changes nothing there. Thread: the partition's owner.

#include <optional>
#include <vector>

#include "libcore/scheduler/preemption_ground.h"

namespace yk {

/// What makes room on a node: plan[0..index] at least, further ones for the RM's predicates; -1: the ask fits as it is.
struct NodeVictims {
    NodeId node{};
    std::vector<Candidate> plan;
    int index = -1;
};

/// P-054; nullopt: the node is out. `candidates`: those on the node, in any order. The view is left as it was.
[[nodiscard]] std::optional<NodeVictims> plan_node(GuaranteeView& view, const Node& node, const Resource& ask,
                                                   std::vector<Candidate> candidates);

/// plan[0..index] of that. `candidates`: in another order afterwards.
[[nodiscard]] std::optional<NodeVictims> plan_needed(GuaranteeView& view, const Node& node, const Resource& ask,
                                                     std::vector<Candidate>& candidates);
/// The same when no rule of protection stands against any of them and all together are within `most`.
struct FreePlan {
    bool valid = false; // else plan_needed() is what counts
    std::optional<NodeVictims> victims;
    Resource total; // of the victims, when it was beyond `most`
};
[[nodiscard]] FreePlan plan_freely(const Node& node, const Resource& ask, const Resource& most,
                                   std::vector<Candidate>& candidates);

/// P-060 for plan[0..index].
[[nodiscard]] std::uint64_t score_of(const NodeVictims& victims, int index) noexcept;

/// How much it hurts that plan[0..index] go: their priorities, then how long they have run.
struct Harm {
    std::int64_t priorities = 0;
    Duration run_time{};
    [[nodiscard]] bool less_than(const Harm& other) const noexcept {
        return priorities != other.priorities ? priorities < other.priorities : run_time < other.run_time;
    }
};
[[nodiscard]] Harm harm_of(const NodeVictims& victims, int index, Instant now) noexcept;

/// P-050: an ordinary reservation so old that a preempting ask of higher priority may end it.
[[nodiscard]] bool is_stale(const PartitionState& state, ReservationId id, const Allocation& ask, Instant now);
/// P-050: whether the node takes part for the ask.
[[nodiscard]] bool takes_part(const PartitionState& state, const Node& node, const Allocation& ask, Instant now);

class NodeChoice {
public:
    NodeChoice(PreemptionGround& ground, Instant now);

    /// P-061: the node that costs least; the first in id order on ties, with preemption.leastharm that which hurts
    /// least. Nodes where the ask fits as it is count when they have not been `tried` already (P-055).
    [[nodiscard]] std::optional<NodeVictims> best(bool tried);
    /// For how many nodes victims were put together.
    [[nodiscard]] std::size_t nodes_planned() const noexcept { return planned_; }

private:
    [[nodiscard]] NodeId free_node() const;
    [[nodiscard]] bool is_worthwhile(std::uint64_t score, NodeId id) const;
    std::uint64_t consider(NodeId id, std::optional<NodeVictims> found);
    std::uint64_t try_node(NodeId id, std::vector<Candidate> candidates);
    struct Outcome {
        std::uint64_t score; // of its plan, ScoreBoard::kOut: none
        bool lasting;        // until the node changes
    };
    Outcome try_freely(NodeId id, const Resource& most, Resource& wanted);
    void try_by_candidates();
    void try_by_nodes();
    [[nodiscard]] std::vector<NodeId> closed_nodes() const;

    PreemptionGround& ground_;
    const PartitionState& s_;
    Candidates& candidates_;
    const Allocation& ask_;
    Instant now_;
    bool least_harm_;
    std::optional<NodeVictims> best_;
    std::uint64_t best_score_ = 0;
    Harm best_harm_;
    std::size_t planned_ = 0;
    bool freely_ = false; // the ask's guarantee leaves room for whatever is within VictimIndex::Kind::most
};

} // namespace yk
