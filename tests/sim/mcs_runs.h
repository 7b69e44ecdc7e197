// SPDX-License-Identifier: Apache-2.0
#pragma once
// The services of MCS by themselves, with rows, a change log, leases and a core in memory, in virtual time: the random
// runs of the unit tests (tests/support/mcs), for as many seeds as are wanted.

#include <cstdint>

namespace yk::sim {

/// Plays each seed in four ways: the Scheduler, two instances of the Autoscaler with faults and without one, and the
/// Autoscaler alone. Says in a line what was wrong with a seed, and in the last one how many runs there were. `trace`:
/// a line before each run, so that it is known which one the product aborts. Returns the number of runs that failed.
[[nodiscard]] std::uint64_t run_mcs(std::uint64_t first, std::uint64_t last, bool trace);

} // namespace yk::sim
