#pragma once
// PreemptionGround: all that one attempt of queue preemption looks at. Every step of the attempt works on it, whether
// the planner decides alone (preemption.cpp) or offers plans to an RM with predicates (preemption_offers.cpp).
//
// Reads the partition, changes nothing there. Thread: the partition's owner; lives for one attempt.

#include "libcore/scheduler/preemption_candidates.h"

namespace yk {

struct PreemptionGround {
    PreemptionGround(const PartitionState& state, AllocationId ask_id)
        : s(state),
          id(ask_id),
          ask(state.allocations[ask_id]),
          size(state.resource_of(ask)),
          leaf(*state.applications[ask.application].queue),
          view(state, leaf),
          candidates(state, view, ask, leaf) {}

    const PartitionState& s;
    AllocationId id;
    const Allocation& ask;
    const Resource& size;
    const Queue& leaf; // Q
    GuaranteeView view;
    Candidates candidates;
};

/// P-040.
[[nodiscard]] bool may_attempt(PreemptionGround& ground);

} // namespace yk
