#pragma once
// PreemptionPlanner: who has to go so that an ask can be placed? (P-020 to P-097)
//
// Pure: works on the partition as it is and on a view with virtual changes, changes nothing. What it decides is done by
// PartitionContext (partition_preemption.cpp). Thread: the partition's owner.
// Cost of an attempt: the queues below the fence root, and the candidates when they are few; else a search in the
// VictimIndex for the nodes that could be as good as the best one.

#include <vector>

#include "libcore/scheduler/partition_state.h"
#include "libcore/scheduler/preemption_ground.h"
#include "libcore/scheduler/preemption_records.h"

namespace yk {

struct PreemptionPlan {
    PreemptionResult result = PreemptionResult::NoHelp;
    NodeId node{};                     // to be reserved
    std::vector<AllocationId> victims; // those of the node first
    PreemptionAttempt attempt{};       // the same for people

    explicit operator bool() const noexcept { return result == PreemptionResult::Victims; }
};

class PreemptionPlanner {
public:
    explicit PreemptionPlanner(const PartitionState& state) : s_(state) {}

    /// Queue preemption (3.3 to 3.8) for a pending ask that meets P-023. `nodes_tried`: the node search found nothing
    /// (point B of P-020), else the queue headroom did not allow the ask (point A).
    [[nodiscard]] PreemptionPlan plan_queue(AllocationId ask, bool nodes_tried, Instant now) const;
    /// Required-node preemption (3.9): the victims on the node that the ask has reserved; none with success: what is on
    /// its way out already is enough.
    [[nodiscard]] PreemptionPlan plan_required(AllocationId ask, Instant now) const;

    // --- with an RM that has preemption predicates (preemption_offers.cpp) ------------------------------------------
    struct Offers {
        std::vector<NodeId> nodes;   // by (index, id) (P-062); none: the attempt fails
        PreemptionAttempt attempt{}; // and that is why
    };
    [[nodiscard]] Offers nodes_to_offer(AllocationId ask, bool nodes_tried, Instant now) const;
    /// The node's plan as it is now; nullopt: it is out.
    [[nodiscard]] std::optional<VictimOffer> offer(AllocationId ask, NodeId node, Instant now) const;
    /// The decision for what the RM agreed to: plan[0..last], provided that it is still the node's plan (P-064).
    [[nodiscard]] PreemptionPlan plan_agreed(AllocationId ask, const VictimOffer& agreed, int last, Instant now) const;

private:
    [[nodiscard]] PreemptionPlan search(PreemptionGround& ground, bool nodes_tried, Instant now) const;
    [[nodiscard]] PreemptionPlan search_agreed(PreemptionGround& ground, const VictimOffer& agreed, int last,
                                               Instant now) const;
    /// The decision, unless it were a storm, and what is told of it.
    [[nodiscard]] PreemptionPlan concluded(PreemptionPlan plan, const PreemptionGround& ground, Instant now) const;

    const PartitionState& s_;
};

} // namespace yk
