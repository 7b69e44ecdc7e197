#pragma once
// Required-node preemption: who leaves a node for an ask that can be nowhere else (3.9). Guarantees, fences, policies
// and offsets play no part.
//
// Reads the partition, changes nothing there. Thread: the partition's owner. Cost: the allocations of the node.

#include <optional>
#include <vector>

#include "libcore/scheduler/partition_state.h"
#include "libcore/scheduler/preemption_attempt.h"

namespace yk {

/// P-094 to P-096; nullopt: all who may go are not enough; empty: enough is on its way out already. `attempt`, unless
/// nullptr, learns who was looked at.
[[nodiscard]] std::optional<std::vector<AllocationId>> required_node_victims(const PartitionState& state,
                                                                             const Allocation& ask, const Node& node,
                                                                             PreemptionAttempt* attempt = nullptr);

} // namespace yk
