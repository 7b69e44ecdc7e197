// SPDX-License-Identifier: Apache-2.0
#pragma once
// One simulated run: a daemon, some RMs, and what befalls them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/sim/disk.h"
#include "tests/sim/world.h"

namespace yk::sim {

struct RunOutcome {
    std::optional<std::string> failure; // what promise was broken
    std::uint64_t steps = 0, digest = 0;
    Coverage coverage;
};

[[nodiscard]] RunOutcome run_seed(std::uint64_t seed, Disk& disk, bool trace,
                                  std::string_view sabotage = {}); // one of kSabotages

} // namespace yk::sim
