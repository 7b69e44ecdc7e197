// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which asks a trace lets expect, as `nodesortpolicy.fragmentation.workload` of a configuration says it (F-020).

#include <string>
#include <vector>

#include "ykctl/replay/trace.h"

namespace yk::replay {

/// Pods that ask for the same GPUs and cores.
struct ExpectedAsks {
    std::int64_t vcore = 0;         // in thousandths
    std::int64_t gpus = 0, gpu = 0; // so many devices, and their sum in thousandths
    std::int64_t weight = 0;        // so many pods
};

/// The commonest first.
[[nodiscard]] std::vector<ExpectedAsks> expected_of(const std::vector<TracePod>& pods);
/// As a list of YAML, one mapping in each line.
[[nodiscard]] std::string workload_text(const std::vector<ExpectedAsks>& asks, const std::string& indent);

} // namespace yk::replay
