// SPDX-License-Identifier: Apache-2.0
#pragma once
// Level core, several RMs at once: each has a cluster of its own, and an owner thread of its own. They share memory,
// caches and the allocator, so this says what that costs, and whether anything else is shared that should not be.

#include <cstdint>

#include "libcore/base/result.h"
#include "tests/bench/cases/placing.h"

namespace yk::bench {

/// All asks of all clusters are placed, from the moment that every thread is ready to that of the last placement.
/// REQUIRES: the workload fits whole. Sample: the processor time is that of all threads.
[[nodiscard]] Result<Sample> run_side_by_side(const MakeWorkload& make, std::uint32_t rms);

} // namespace yk::bench
