// SPDX-License-Identifier: Apache-2.0
#pragma once
// Load at level wire, as an open loop: asks are due at a fixed rate, whether or not the daemon keeps up, and each
// latency counts from when its ask was due. A client that waited for answers instead would ask less just when the
// daemon is slow, and see nothing of it (coordinated omission).

#include <string>

#include "libcore/base/result.h"
#include "tests/bench/measure/measure.h"
#include "tests/bench/workloads/workloads.h"

namespace yk::bench {

struct LoadParameters {
    TreeParameters tree; // its asks follow from the other members
    std::uint32_t percent_full = 90;
    std::uint32_t per_second = 1000;
    double seconds = 5;    // or less: as many asks as the cluster holds at the beginning
    bool over_tcp = false; // else over ipc
};

/// With the daemon `ykd`. With each ask an allocation is released, of those that were made before the first ask was
/// due. Sample: latencies from when an ask was due to its callback; the processor time is the daemon's.
[[nodiscard]] Result<Sample> run_load(const std::string& ykd, const LoadParameters& parameters);

} // namespace yk::bench
