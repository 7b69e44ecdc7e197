// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bare nng round trip over ipc between two processes, without ykd: what the latency of W9 is held against.

#include <cstdint>

#include "libcore/base/result.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

/// So many requests one after the other, each of the size of one ask, which another process sends back.
[[nodiscard]] Result<Sample> run_bare_round_trips(std::uint32_t steps);

} // namespace yk::bench
