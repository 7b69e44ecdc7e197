// SPDX-License-Identifier: Apache-2.0
#pragma once
// The invariants of S-181 and of C-400 that a stranger can verify: computed from the views alone, without the core's
// own check().

#include <string>
#include <vector>

#include "libcore/cluster/cluster_context.h"

namespace yk::testing {

/// What does not add up, in words.
[[nodiscard]] std::vector<std::string> wrong_sums(ClusterContext& core);

} // namespace yk::testing
