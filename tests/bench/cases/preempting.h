// SPDX-License-Identifier: Apache-2.0
#pragma once
// W7: a cluster full of low-priority work in queues over their guarantee, and asks of starved queues. Level core.

#include <cstdint>

#include "libcore/base/result.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

struct PreemptingParameters {
    std::uint32_t nodes = 1000;
    std::uint32_t asks = 5000;
    std::uint32_t leaves = 50;    // of each half: over their guarantee, and starved
    bool opted_out = false;       // no victim allows to be preempted, which is what the wire takes for granted
    std::uint32_t candidates = 0; // allocations in queues over their guarantee; 0: all
    std::uint32_t per_node = 0;   // allocations of a node; 0: 20 shapes, about 25
};

/// Sample: `asked` asks, of which `placed` found room; time of the cycles that chose victims, the RM confirming each
/// before the next; latencies: the same one by one, in processor time.
struct PreemptingSample {
    Sample sample;
    std::uint64_t decisions = 0;
    std::uint64_t victims = 0;

    [[nodiscard]] double decision_ns() const {
        return decisions > 0 ? sample.cpu_seconds * 1e9 / static_cast<double>(decisions) : 0;
    }
};

[[nodiscard]] Result<PreemptingSample> run_preempting(const PreemptingParameters& parameters);

} // namespace yk::bench
