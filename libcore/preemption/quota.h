// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quota preemption: how much a queue above its max has to give back, from which leaves, and which victims (section 3.10
// of docs/spec/preemption-gang-priority.md). Policies, delays, offsets and fences of queue preemption play no part
// (P-123).
//
// Reads the partition, changes nothing there. Thread: the partition's owner. Cost: the allocations of the leaves that
// give back.

#include <vector>

#include "libcore/state/partition_state.h"

namespace yk {

/// Whether usage is within the max in every type of the max (P-101).
[[nodiscard]] bool within_max(const Limit& max, const Resource& allocated) noexcept;

/// Whether a type of `before` was lowered, or a type is limited that was not (P-101, D-46).
[[nodiscard]] bool is_tighter(const Limit& before, const Limit& after) noexcept;

/// What the queue has to give back, never below its guarantee or one above it; no types: nothing (P-120, P-121).
[[nodiscard]] Resource quota_target(const Queue& queue);

struct LeafTarget {
    const Queue* leaf = nullptr;
    Resource target;
};
/// Divides the target of a queue among its leaves, in proportion to what each uses above its guarantee; in order of
/// their paths (P-122).
[[nodiscard]] std::vector<LeafTarget> distribute(const Queue& queue, const Resource& target);

struct QuotaVictims {
    std::vector<AllocationId> victims; // in the order of taking
    std::size_t candidates = 0;
    Resource claimed;
};
/// The victims of one leaf, which together stay within its target (P-124 to P-126).
[[nodiscard]] QuotaVictims quota_victims(const PartitionState& state, const LeafTarget& leaf);

} // namespace yk
