// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tests before any node is looked at: does the ask fit the headroom of its queues, may its application run? The
// planner, its log and the explanations share them, so that they cannot disagree.
//
// Pure: reads the partition. Thread: its owner.

#include "libcore/state/partition_state.h"

namespace yk {

/// The highest queue whose headroom does not allow a resource, or whose usage may not grow by it (S-252).
struct QueueVerdict {
    Queue* queue = nullptr; // nullptr: allowed
    bool quota = false;     // refused by the headroom, else by a type that nobody offers
};

/// Tests the queues from the leaf to the root. For an ask with a required node the root is left out: if the cluster is
/// full, preemption may free that node. Cost: the depth of the leaf.
[[nodiscard]] QueueVerdict queue_verdict(const PartitionState& state, Queue& leaf, const Shape& shape);
/// Whether the application runs, is starting to run, or finds a free slot in every queue above it (S-260, S-261).
[[nodiscard]] bool has_slot(const Application& application);
/// The same for the limits of its user and group on running applications (C-410).
[[nodiscard]] bool has_user_slot(const PartitionState& state, const Application& application);
/// Whether the walk tries the application's asks at all (S-340).
[[nodiscard]] bool is_considered(const PartitionState& state, const Application& application);

} // namespace yk
