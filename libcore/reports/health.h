// SPDX-License-Identifier: Apache-2.0
#pragma once
// Health checks 3 to 11 of one partition (docs/spec/interface.md, section 5.6): sums over the objects themselves,
// without snapshots, because they run in the background between cycles.
//
// Pure: reads the partition. Thread: its owner.

#include <vector>

#include "libcore/ports/view.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// The checks in their order, each passed so far.
[[nodiscard]] std::vector<HealthCheckView> health_checks();
/// Checks one page, see pages.h. Each equation is between numbers of one instant (I-445). `checks`: from
/// health_checks(), with the results of the pages before. False: the budget is used up, and another page may follow.
bool health_page(const PartitionState& state, HealthCursor& cursor, std::size_t& budget,
                 std::vector<HealthCheckView>& checks);

/// Whether nodes, asks or allocations have amounts so large that sums of them may be cut at the end of the range
/// (S-003): then their comparison with the objects says nothing.
[[nodiscard]] bool has_huge_amounts(const PartitionState& state);

} // namespace yk
