// SPDX-License-Identifier: Apache-2.0
#pragma once
// Verifies every accounting invariant (S-181) and every structural one of a partition from scratch, for tests and
// fuzzing. Pure: reads the partition. Thread: its owner. Cost: all objects, several times.

#include <string>
#include <vector>

#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// The broken invariants, in words. `indexes`: of this state, and up to date.
[[nodiscard]] std::vector<std::string> check_partition(const PartitionState& state, const SchedulingIndexes& indexes);

} // namespace yk
