#pragma once
// Quota preemption: how much a queue over its max has to give back, from which leaves, and who goes (3.10). Policies,
// delays, offsets and fences of queue preemption play no part (P-123).
//
// Reads the partition, changes nothing there. Thread: the partition's owner. Cost: the allocations of the leaves that
// give back.

#include <vector>

#include "libcore/scheduler/partition_state.h"

namespace yk {

/// Whether usage is within the max: of the types in both, none is above (P-101). REQUIRES: `max` is what counts.
[[nodiscard]] bool within_max(const Limit& max, const Resource& allocated) noexcept;

/// P-101: a type of `before` was lowered, or one was limited that was not (D-46).
[[nodiscard]] bool is_tighter(const Limit& before, const Limit& after) noexcept;

/// P-120, P-121: what the queue has to give back; no types: nothing.
[[nodiscard]] Resource quota_target(const Queue& queue);

struct LeafTarget {
    const Queue* leaf = nullptr;
    Resource target;
};
/// P-122: the target of a queue shared out among its leaves, in order of their paths.
[[nodiscard]] std::vector<LeafTarget> distribute(const Queue& queue, const Resource& target);

struct QuotaVictims {
    std::vector<AllocationId> victims; // in the order of taking
    std::size_t candidates = 0;
    Resource claimed;
};
/// P-124 to P-126 for one leaf.
[[nodiscard]] QuotaVictims quota_victims(const PartitionState& state, const LeafTarget& leaf);

} // namespace yk
