// SPDX-License-Identifier: Apache-2.0
#pragma once
// A figure comes from at least half a second of work: a run of some milliseconds says more of the machine than of the
// program.

#include <functional>

#include "libcore/base/result.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

/// The mean of as many runs as that takes, each of which begins afresh; of peak RSS and worst latency the largest.
/// Error: of the first run that failed.
[[nodiscard]] Result<Sample> repeated(const std::function<Result<Sample>()>& measure);

} // namespace yk::bench
