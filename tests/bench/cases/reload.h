// SPDX-License-Identifier: Apache-2.0
#pragma once
// R1: a configuration of 10,000 queues is reloaded while 100,000 applications run (issue 3). Level core.

#include <cstdint>

#include "libcore/base/result.h"
#include "tests/bench/measure/measure.h"
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

struct ReloadParameters {
    std::uint32_t parents = 100;
    std::uint32_t leaves = 100; // of each parent
    std::uint32_t applications = 100'000;
    std::uint32_t users = 1000;
    std::uint32_t groups = 0; // each with a limit at root, in another order after the reload
    std::uint32_t moving = 0; // applications that count for another group then
};

/// The cluster before the reload.
[[nodiscard]] Workload make_reload_workload(const ReloadParameters& parameters);

/// Every queue gets another max, some go and some come, the limits of users change. Sample: `seconds` from the text to
/// the end of the next cycle, `pause` the part of it in which the owner can do nothing else.
[[nodiscard]] Result<Sample> run_reload(const ReloadParameters& parameters);

} // namespace yk::bench
