// SPDX-License-Identifier: Apache-2.0
#pragma once
// AttemptContext: all that one attempt of queue preemption looks at. Every step of the attempt works on it, whether
// the planner decides alone (queue_preemption.cpp) or offers plans to an RM with predicates (offers.cpp).
//
// Reads the partition, changes nothing there. Owner: a function of PreemptionPlanner, for one attempt. Thread: the
// partition's owner.

#include "libcore/preemption/candidates.h"
#include "libcore/state/victim_index.h"

namespace yk {

struct AttemptContext {
    AttemptContext(const PartitionState& partition, VictimIndex& index, AllocationId ask_id)
        : state(partition),
          victims(index),
          id(ask_id),
          ask(partition.allocations[ask_id]),
          shape(partition.shapes[ask.shape]),
          size(shape.resource),
          leaf(*partition.applications[ask.application].queue),
          view(partition, leaf),
          candidates(partition, view, ask, leaf) {}

    const PartitionState& state;
    VictimIndex& victims;
    AllocationId id;
    const Allocation& ask;
    const Shape& shape;
    const Resource& size;
    const Queue& leaf; // of the ask: Q in the specification
    GuaranteeView view;
    Candidates candidates;
};

/// Whether the guarantee of the ask's queue allows an attempt: it leaves as much as the ask requests, or would if all
/// candidates were gone. Cost: in the second case all candidates (P-040).
[[nodiscard]] bool may_attempt(AttemptContext& attempt);

} // namespace yk
