#pragma once
// What is asked before any node is looked at: does the ask fit what its queues leave, may its application run? Used by
// the walk, by what it notes on asks, and by `explain`, so that none of them tells another story.
//
// Pure: reads the partition. Thread: its owner.

#include "libcore/scheduler/partition_state.h"

namespace yk {

/// The highest queue whose headroom does not allow a resource, or whose usage may not grow by it (S-252).
struct QueueVerdict {
    Queue* queue = nullptr; // none: allowed
    bool quota = false;     // it was the headroom
};

/// The size of the cluster is no limit for an ask with a required node: its room may have to be made first.
[[nodiscard]] QueueVerdict queue_verdict(const PartitionState& state, Queue& leaf, const Shape& shape);
/// S-260, S-261: it runs, is starting to run, or every level has a slot for it.
[[nodiscard]] bool has_slot(const Application& application);
/// C-410: the same for its user and group.
[[nodiscard]] bool has_user_slot(const PartitionState& state, const Application& application);
/// S-340: whether the walk would try the application's asks.
[[nodiscard]] bool is_considered(const PartitionState& state, const Application& application);

} // namespace yk
