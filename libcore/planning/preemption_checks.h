// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreemptionChecks: which asks may attempt a preemption now (P-022, P-023). Attempts depend on time, so an ask is tried
// again although its shape is blocked. The asks of a group become old enough in their order, so a cursor per group
// leads to the next one; when that is due, the group's masks carry kVisitBit and the planner's walk comes to it in
// order.
//
// Owner: PartitionContext. Thread: the partition's owner. Cost when an ask joins or leaves: one comparison for a group
// without an ask that may preempt; else also the depth of the leaf, to look for a guarantee (P-040).

#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class PreemptionChecks {
public:
    PreemptionChecks(PartitionState& state, SchedulingIndexes& indexes) : state_(state), indexes_(indexes) {}

    /// Called after the ask was linked into its group.
    void joined(AllocationId ask, Instant now) noexcept;
    /// Called before the ask is taken out of its group; the caller calls update() afterwards if the group stays.
    void leaving(AllocationId ask) noexcept;
    /// Called after the ask's policy changed, or when it waits for victims no more.
    void changed(AllocationId ask, Instant now) noexcept;
    /// Brings up to date whether the group's next ask is due; sets a timer if it will be later.
    void update(GroupId group, Instant now) noexcept;
    /// Called after guarantees, delays or switches changed. Cost: all groups.
    void update_all(Instant now) noexcept;

    /// The first ask of the group that may attempt now, in the order of asks; none: there is none now (P-023).
    /// REQUIRES: the group has checks.
    [[nodiscard]] AllocationId next(GroupId group, Instant now);
    /// Counts one attempt of the ask. False: the leaf's budget of attempts in this cycle is used up (P-022, P-023).
    [[nodiscard]] bool begin(AllocationId ask, Instant now);
    /// Lets the group wait for the next cycle. REQUIRES: the group has checks.
    void put_off(GroupId group, Instant now);
    /// A cycle begins: every leaf has its full budget again, and groups that were put off are looked at.
    void begin_cycle(Instant now);
    /// Whether this ask may attempt now: for leaves with back-off, whose asks are tried one by one (P-023).
    [[nodiscard]] bool is_due(const Allocation& ask, Instant now) const noexcept;

private:
    [[nodiscard]] bool may_ever(const AskGroup& group) const noexcept;
    [[nodiscard]] Instant throttled_until(const Allocation& ask) const noexcept;
    [[nodiscard]] bool is_throttled(const Allocation& ask, Instant now) const noexcept;

    PartitionState& state_;
    SchedulingIndexes& indexes_;
};

} // namespace yk
