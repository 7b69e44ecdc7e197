#pragma once
// GangPlanner: which placeholder gives its place to which real ask? (step 2, G-032 to G-038)
//
// It changes nothing. Thread: the partition's owner. Cost: one descent over queues and applications; then one look at
// each task group that has both placeholders and asks, and a walk over placeholders only for asks with a required node
// or whose RM has predicates.

#include <vector>

#include "libcore/scheduler/orders.h"
#include "libcore/scheduler/partition_state.h"

namespace yk {

/// What to do for one application: placeholders that are too small go, and one may be swapped.
struct SwapPlan {
    struct TooSmall {
        AllocationId placeholder{};
        AllocationId ask{};
    };
    std::vector<TooSmall> too_small; // G-038
    std::vector<NodeId> to_ask;      // the RM is asked about them for `ask` first (I-377)
    bool waiting = false;            // an ask waits for its RM
    AllocationId placeholder{};      // none: nothing to swap
    AllocationId ask{};
    NodeId node{}; // where the ask goes

    [[nodiscard]] bool swaps() const noexcept { return placeholder.valid(); }
};

class GangPlanner {
public:
    GangPlanner(PartitionState& state, Orders& orders) : s_(state), orders_(orders) {}

    /// The first application in order that holds placeholders for asks it has (G-032); none.
    [[nodiscard]] ApplicationId find() const;
    /// The algorithm of section 1.4. When placeholders are too small they go first and the application is looked at
    /// again, unless another one could be swapped in the same pass.
    [[nodiscard]] SwapPlan plan(const Application& application) const;

private:
    bool try_ask(AllocationId ask, const TaskGroup& group, SwapPlan& plan, SwapPlan& first) const;
    [[nodiscard]] bool may_run_on(AllocationId ask, NodeId node, SwapPlan& plan) const;
    [[nodiscard]] SwapPlan elsewhere(SwapPlan first) const;
    [[nodiscard]] std::vector<NodeId> other_nodes(AllocationId ask) const;

    PartitionState& s_;
    Orders& orders_;
};

} // namespace yk
