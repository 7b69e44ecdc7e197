// SPDX-License-Identifier: Apache-2.0
#pragma once
// W4 and W6: a full cluster in which one allocation goes and one ask comes, again and again. Level core.

#include <cstdint>

#include "libcore/base/result.h"
#include "tests/bench/measure/measure.h"
#include "tests/bench/workloads/workloads.h"

namespace yk::bench {

struct ChurnParameters {
    TreeParameters tree; // its asks follow from `percent_full`
    std::uint32_t percent_full = 90;
    std::uint32_t steps = 1'000'000;
    std::uint32_t waiting = 0; // asks that wait besides, and would fit; the one placed is then not the one asked for
};

/// How many asks of `tree` fill its nodes to `percent` of their memory, which is what runs out first.
[[nodiscard]] std::uint32_t asks_to_fill(const TreeParameters& tree, std::uint32_t percent);

/// W6. Sample: `placed` of `asked` steps, time of release, ask and allocation, latencies from ask to allocation.
[[nodiscard]] Result<Sample> run_churn(const ChurnParameters& parameters);

struct BacklogParameters {
    std::uint32_t hopeless = 100'000;
    std::uint32_t shapes = 20;
    std::uint32_t steps = 10'000;
    bool until_idle = false; // each step ends with the cycle that finds nothing more to do
};

/// W4. Sample: as run_churn().
[[nodiscard]] Result<Sample> run_backlog(const BacklogParameters& parameters);

} // namespace yk::bench
