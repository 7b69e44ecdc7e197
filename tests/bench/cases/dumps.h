// SPDX-License-Identifier: Apache-2.0
#pragma once
// D1: how long a request for a picture keeps the owner of R1's cluster from scheduling. Level core.

#include <array>
#include <string_view>

#include "libcore/base/result.h"
#include "tests/bench/cases/reload.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

inline constexpr std::array<std::string_view, 13> kDumps{
    "partition", "queues", "apps",         "nodes",   "users",  "groups",        "one user",
    "one group", "rules",  "reservations", "metrics", "health", "ask by its key"};

/// Sample: `pause` is the longest stop of all.
struct DumpsSample {
    Sample sample;
    std::array<double, kDumps.size()> stops{}; // seconds, the longest of each picture
};

[[nodiscard]] Result<DumpsSample> run_dumps(const ReloadParameters& parameters);

} // namespace yk::bench
