#pragma once
// PreemptionChecks: which asks may attempt a preemption now (P-022, P-023)? Attempts depend on time, so an ask is
// looked at again although its shape is blocked. The asks of a group become old enough in their order, so a group knows
// the next one by a cursor; when it is due, the group's masks carry kVisitBit and the planner's walk meets it in its
// order.
//
// Owner: PartitionContext. Thread: the partition's owner. Groups without an ask that may preempt, and leaves without a
// guarantee up the tree (P-040), cost one comparison when an ask joins or leaves.

#include "libcore/scheduler/orders.h"
#include "libcore/scheduler/partition_state.h"

namespace yk {

class PreemptionChecks {
public:
    PreemptionChecks(PartitionState& state, Orders& orders) : s_(state), orders_(orders) {}

    /// The ask was linked into its group.
    void joined(AllocationId ask, Instant now);
    /// The ask is about to be taken out of its group; REQUIRES: update() afterwards if the group stays.
    void leaving(AllocationId ask);
    /// The ask's policy changed, or it no longer counts as triggered.
    void changed(AllocationId ask, Instant now);
    /// Whether the group's next ask is due, and a timer if it will be.
    void update(GroupId group, Instant now);
    /// Guarantees, delays or switches changed.
    void update_all(Instant now);

    /// The first ask of the group that meets P-023, in the order of asks; none now. REQUIRES: the group has checks.
    [[nodiscard]] AllocationId next(GroupId group, Instant now);
    /// P-023, P-022: counts one attempt of the ask; false: the leaf's budget of this cycle is used up.
    [[nodiscard]] bool begin(AllocationId ask, Instant now);
    /// The group waits for the next cycle.
    void put_off(GroupId group, Instant now);
    /// A cycle begins: budgets are full again.
    void begin_cycle(Instant now);
    /// P-023 for an ask on its own; for leaves whose asks are walked one by one.
    [[nodiscard]] bool is_due(const Allocation& ask, Instant now) const;

private:
    [[nodiscard]] bool may_ever(const AskGroup& group) const;
    [[nodiscard]] Instant throttled_until(const Allocation& ask) const;
    [[nodiscard]] bool is_throttled(const Allocation& ask, Instant now) const;

    PartitionState& s_;
    Orders& orders_;
};

} // namespace yk
