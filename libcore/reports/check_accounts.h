// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of check_partition() about separate accounts: the usage of users and groups, and the budget of the RM.

#include <string>
#include <vector>

#include "libcore/state/partition_state.h"

namespace yk {

/// Adds, in words, the broken invariants of UserGroupManager.
void check_usage(const PartitionState& state, std::vector<std::string>& broken);
/// The same for the counts of the budget, and the uses of shared texts.
void check_budget(const PartitionState& state, std::vector<std::string>& broken);

} // namespace yk
