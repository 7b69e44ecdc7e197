// SPDX-License-Identifier: Apache-2.0
#pragma once
// GangPlanner: decides which placeholder is replaced by which real ask, step 2 of a cycle (G-032 to G-038).
//
// It changes nothing. Owner: PartitionContext. Thread: the partition's owner. Cost: one descent over queues and
// applications, then one look at each task group that has both placeholders and asks; it walks over placeholders only
// for asks with a required node or whose RM has predicates.

#include <vector>

#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// What to do for one application: placeholders that are too small are released, and one may be swapped for an ask.
struct SwapPlan {
    struct TooSmall {
        AllocationId placeholder{};
        AllocationId ask{};
    };
    std::vector<TooSmall> too_small; // smaller than a real ask of their group: released without a successor (G-038)
    std::vector<NodeId> to_ask;      // nodes that the RM has to be asked about for `ask` first (I-377)
    bool waiting = false;            // an ask of the application waits for an answer of its RM
    AllocationId placeholder{};      // none: nothing to swap
    AllocationId ask{};
    NodeId node{}; // the ask is placed here

    [[nodiscard]] bool swaps() const noexcept { return placeholder.valid(); }
};

class GangPlanner {
public:
    GangPlanner(PartitionState& state, SchedulingIndexes& indexes) : state_(state), indexes_(indexes) {}

    /// The first application in order that has both placeholders and asks to replace them; none: there is no such
    /// application (G-032).
    [[nodiscard]] ApplicationId find() const;
    /// What to do for the application. If placeholders are too small and none can be swapped in the same pass, the
    /// plan only releases them; the caller then plans again.
    [[nodiscard]] SwapPlan plan(const Application& application) const;

private:
    bool try_ask(AllocationId ask, const TaskGroup& group, SwapPlan& plan, SwapPlan& first) const;
    [[nodiscard]] bool has_devices_for(AllocationId ask, AllocationId placeholder) const;
    [[nodiscard]] bool may_run_on(AllocationId ask, NodeId node, SwapPlan& plan) const;
    [[nodiscard]] SwapPlan elsewhere(SwapPlan first) const;
    [[nodiscard]] std::vector<NodeId> other_nodes(AllocationId ask) const;

    PartitionState& state_;
    SchedulingIndexes& indexes_;
};

} // namespace yk
