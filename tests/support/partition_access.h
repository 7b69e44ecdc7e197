// SPDX-License-Identifier: Apache-2.0
#pragma once
// PartitionAccess: what tests and benchmarks see and do of a partition beside its facade.

#include <cstddef>

#include "libcore/partition/partition_context.h"

namespace yk {

struct PartitionAccess {
    /// How many groups are listed to wait until they may reserve; some may have been removed.
    [[nodiscard]] static std::size_t listed_delays(const PartitionContext& partition) {
        return partition.reservation_delays_.size();
    }
    /// How many groups are listed with asks that are not noted yet; some may have been removed.
    [[nodiscard]] static std::size_t listed_unreported(const PartitionContext& partition) {
        return partition.attempt_log_.listed();
    }
    /// Places a pending ask without search. The indexes are brought up to date by refreshed().
    static void place(PartitionContext& partition, AllocationId ask, NodeId node, Instant now) {
        partition.placements_.reserve_capacity(ask, node);
        partition.placements_.place(ask, node, true, now);
    }
    /// Begins the swap of a placeholder for a pending ask without search (G-034), likewise.
    static void swap(PartitionContext& partition, AllocationId ask, AllocationId placeholder, NodeId node,
                     Instant now) {
        SwapPlan plan;
        plan.ask = ask;
        plan.placeholder = placeholder;
        plan.node = node;
        partition.placeholder_swaps_.swap(plan, now);
    }
};

} // namespace yk
