// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreemptionPlanner: decides which allocations are preempted so that an ask can be placed (P-020 to P-097).
//
// Pure: works on the partition as it is and on a view with virtual changes, changes nothing. What it decides is carried
// out by Cycle and VictimMarks. Owner: Planner. Thread: the partition's owner.
// Cost of an attempt: the queues below the fence root, and the candidates, if they are at most
// Shortcuts::listed_victims many; else a search in the VictimIndex for nodes that could be as good as the best one.

#include <vector>

#include "libcore/preemption/attempt_context.h"
#include "libcore/state/partition_state.h"
#include "libcore/state/preemption_records.h"

namespace yk {

struct PreemptionPlan {
    PreemptionResult result = PreemptionResult::NoHelp;
    NodeId node{};                     // to be reserved for the ask
    std::vector<AllocationId> victims; // those on the node first
    PreemptionAttempt attempt{};       // the record of the attempt, for people

    explicit operator bool() const noexcept { return result == PreemptionResult::Victims; }
};

class PreemptionPlanner {
public:
    /// `victims`: an index of this state, which attempts bring up to date.
    PreemptionPlanner(const PartitionState& state, VictimIndex& victims) : state_(state), victims_(victims) {}

    /// Queue preemption for a pending ask that may attempt one (P-023). `nodes_tried`: the search for nodes found none
    /// (point B of P-020); else the headroom of a queue refused the ask (point A).
    [[nodiscard]] PreemptionPlan plan_queue(AllocationId ask, bool nodes_tried, Instant now) const;
    /// Required-node preemption: the victims on the node that the ask has reserved. Success without victims: those that
    /// are leaving already are enough (P-093 to P-097). REQUIRES: the ask has a reservation.
    [[nodiscard]] PreemptionPlan plan_required(AllocationId ask, Instant now) const;

    // --- with an RM that has preemption predicates (offers.cpp) ------------------------------------------------------
    struct Offers {
        std::vector<NodeId> nodes;   // by number of victims, then id; none: the attempt failed (P-062)
        PreemptionAttempt attempt{}; // then the record of it
    };
    /// The nodes on which the ask could preempt, in the order in which the RM is asked about them.
    [[nodiscard]] Offers nodes_to_offer(AllocationId ask, bool nodes_tried, Instant now) const;
    /// The node's plan as it is now; nullopt: there is none any more.
    [[nodiscard]] std::optional<VictimOffer> offer(AllocationId ask, NodeId node, Instant now) const;
    /// The decision for what the RM agreed to, plan[0..last], provided that the node's plan still begins so (P-064).
    [[nodiscard]] PreemptionPlan plan_agreed(AllocationId ask, const VictimOffer& agreed, int last, Instant now) const;

private:
    [[nodiscard]] PreemptionPlan search(AttemptContext& attempt, bool nodes_tried, Instant now) const;
    [[nodiscard]] PreemptionPlan search_agreed(AttemptContext& attempt, const VictimOffer& agreed, int last,
                                               Instant now) const;
    /// Refuses the plan if it would be one of too many victims in a minute, and completes the record of the attempt.
    [[nodiscard]] PreemptionPlan concluded(PreemptionPlan plan, const AttemptContext& attempt, Instant now) const;

    const PartitionState& state_;
    VictimIndex& victims_;
};

} // namespace yk
