// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a partition has of the objects that an RM counts when it recovers (docs/spec/interface.md, section 3.4).
//
// Pure: each reads the state as it is. Thread: its owner. Cost: all nodes, applications and allocations.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/ports/recovery.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// Adds this partition to the view.
void add_recovery(const PartitionState& state, RecoveryView& view);

/// How much there is. Cost: O(1).
void add_progress(const PartitionState& state, RecoveryProgress& progress);

/// Adds to `items` the restored objects of a kind that come after `after` in the order of ids (partition, node or
/// application, key), so that it has the first `most` of them, sorted. `bucket`: only those in it (I-235).
void add_recovery_items(const PartitionState& state, RecoveryKind kind, std::optional<std::uint8_t> bucket,
                        const std::optional<RecoveryItem>& after, std::size_t most, std::vector<RecoveryItem>& items);

} // namespace yk
