#pragma once
// The daemon's clocks (I-353). The core never reads one: the owner threads hand it the time.

#include <chrono>

#include "libcore/base/time.h"

namespace yk {

/// Real time as it was at the start of the process, moved on by the steady clock: it never goes back and never jumps
/// when somebody sets the machine's clock. Any thread.
[[nodiscard]] Instant real_now();

/// What waits, polls, sessions and deadlines use: always real.
using SteadyClock = std::chrono::steady_clock;

} // namespace yk
