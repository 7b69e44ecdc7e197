// SPDX-License-Identifier: Apache-2.0
#pragma once
// The node phase of queue preemption: the victims on one node after which the ask fits there, and the choice between
// nodes (sections 3.6 and 3.7 of docs/spec/preemption-gang-priority.md).
//
// Reads the partition, changes nothing there. Thread: the partition's owner.

#include <optional>
#include <vector>

#include "libcore/preemption/attempt_context.h"
#include "libcore/preemption/node_space.h"

namespace yk {

/// Victims on a node. Without plan[0..index] the ask fits; an RM with predicates may want further ones of the plan.
/// `index` is -1 if the ask fits without any victim.
struct NodeVictims {
    NodeId node{};
    std::vector<Candidate> plan;
    int index = -1;
};

/// The whole plan for a node, from what is free there for the ask; nullopt: taking all candidates is not enough.
/// `candidates`: those on the node, in any order. The view is left as it was. Cost: the candidates, sorted (P-054).
[[nodiscard]] std::optional<NodeVictims> plan_node(GuaranteeView& view, NodeSpace space, const Resource& ask,
                                                   std::vector<Candidate> candidates);
/// What is free on the node for the ask, once for each choice of the devices that it could get (F-007).
[[nodiscard]] std::vector<NodeSpace> spaces_on(const Node& node, const Shape& ask,
                                               const std::vector<Candidate>& candidates);

/// The same without the part of the plan behind `index`, and without a full sort. Reorders `candidates`.
[[nodiscard]] std::optional<NodeVictims> plan_needed(GuaranteeView& view, NodeSpace space, const Resource& ask,
                                                     std::vector<Candidate>& candidates);
/// The same without a view, where no guarantee protects any candidate as long as all together are within `most`.
struct FreePlan {
    bool valid = false; // false: the condition does not hold, and plan_needed() has to decide
    std::optional<NodeVictims> victims;
    Resource total; // of the victims
};
[[nodiscard]] FreePlan plan_freely(NodeSpace space, const Resource& most, std::vector<Candidate>& candidates);

/// The cost of plan[0..index]: the number of victims, above that whether one opted out or is an originator; less is
/// better (P-060).
[[nodiscard]] std::uint64_t score_of(const NodeVictims& victims, int index) noexcept;

/// The harm of preempting plan[0..index]: the sum of priorities, then how long they have run, all together.
struct Harm {
    std::int64_t priorities = 0;
    Duration run_time{};
    [[nodiscard]] bool less_than(const Harm& other) const noexcept {
        return priorities != other.priorities ? priorities < other.priorities : run_time < other.run_time;
    }
};
[[nodiscard]] Harm harm_of(const NodeVictims& victims, int index, Instant now) noexcept;

/// Whether the reservation is so old that the ask, of higher priority, may end it. One of an ask with a required node,
/// or that waits for victims, never is (P-050).
[[nodiscard]] bool is_stale(const PartitionState& state, ReservationId id, const Allocation& ask, Instant now);
/// Whether the ask may preempt on the node: schedulable, large enough, and not kept for others (P-050).
[[nodiscard]] bool takes_part(const PartitionState& state, const Node& node, const Allocation& ask, Instant now);

class NodeChoice {
public:
    NodeChoice(AttemptContext& attempt, Instant now);

    /// The node that costs least; on ties the first in id order, or with property preemption.leastharm the one with the
    /// least harm (P-061). A node on which the ask fits without a victim wins, unless nodes have been `tried` before
    /// (P-055).
    [[nodiscard]] std::optional<NodeVictims> best(bool tried);
    /// For how many nodes a plan was made.
    [[nodiscard]] std::size_t nodes_planned() const noexcept { return planned_; }

private:
    [[nodiscard]] NodeId free_node() const;
    [[nodiscard]] bool is_worthwhile(std::uint64_t score, NodeId id) const;
    std::uint64_t consider(NodeId id, std::optional<NodeVictims> found);
    std::uint64_t try_node(NodeId id, std::vector<Candidate> candidates);
    struct Outcome {
        std::uint64_t score; // of the node's plan; VictimScores::kOut: there is none
        bool lasting;        // the score holds until the node changes, else for this attempt only
    };
    Outcome try_freely(NodeId id, const Resource& most, Resource& wanted);
    void try_by_candidates();
    void try_by_nodes();
    [[nodiscard]] std::vector<NodeId> closed_nodes() const;

    AttemptContext& attempt_;
    const PartitionState& state_;
    Candidates& candidates_;
    const Allocation& ask_;
    Instant now_;
    bool least_harm_;
    std::optional<NodeVictims> best_;
    std::uint64_t best_score_ = 0;
    Harm best_harm_;
    std::size_t planned_ = 0;
    bool freely_ = false; // the ask's guarantee allows whatever is within VictimIndex::Kind::most
};

} // namespace yk
