// SPDX-License-Identifier: Apache-2.0
#pragma once
// Required-node preemption: the victims on the one node on which an ask may run (section 3.9 of
// docs/spec/preemption-gang-priority.md). Guarantees, fences, policies and offsets play no part.
//
// Reads the partition, changes nothing there. Thread: the partition's owner. Cost: the allocations of the node.

#include <optional>
#include <vector>

#include "libcore/state/partition_state.h"
#include "libcore/state/preemption_attempt.h"

namespace yk {

/// The victims; nullopt: all candidates together are not enough; empty: those that are leaving already are enough.
/// `attempt`, unless nullptr, is given the counts of what was looked at (P-094 to P-096).
[[nodiscard]] std::optional<std::vector<AllocationId>> required_node_victims(const PartitionState& state,
                                                                             const Allocation& ask, const Node& node,
                                                                             PreemptionAttempt* attempt = nullptr);

} // namespace yk
