// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a partition has of the objects that an RM counts when it recovers (docs/spec/interface.md, section 3.4).
//
// Pure: each reads the state as it is. Thread: its owner. Cost: all nodes, applications and allocations,
// but for what says otherwise.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ports/recovery.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// Where a list of what is wrong in a partition goes on: after this object of the quarantine, and, when all of that is
/// listed, after this node.
struct RecoveryFaultsCursor {
    std::uint64_t serial = 0;
    bool is_at_nodes = false;
    std::string node;
};

/// A page of it. Each entry has the cursor behind it.
struct RecoveryFaultsPage {
    std::vector<std::pair<QuarantineView, RecoveryFaultsCursor>> quarantine; // in the order of arrival
    std::vector<std::pair<IncompleteNodeView, RecoveryFaultsCursor>> nodes;  // by id
};

/// Adds this partition to the view.
void add_recovery(const PartitionState& state, RecoveryView& view);

/// How much there is. Cost: O(1).
void add_progress(const PartitionState& state, RecoveryProgress& progress);

/// Lists what waits in quarantine, and then the nodes that do not have what is booked on them, from `cursor` on. Looks
/// at no more than `budget` objects, each of which it takes from it. True: these were the last.
bool add_recovery_faults(const PartitionState& state, RecoveryFaultsCursor& cursor, std::size_t& budget,
                         RecoveryFaultsPage& page);

/// Adds to `items` the restored objects of a kind that come after `after` in the order of ids (partition, node or
/// application, key), so that it has the first `most` of them, sorted. `bucket`: only those in it (I-235).
void add_recovery_items(const PartitionState& state, RecoveryKind kind, std::optional<std::uint8_t> bucket,
                        const std::optional<RecoveryItem>& after, std::size_t most, std::vector<RecoveryItem>& items);

} // namespace yk
