// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's clocks (I-353). The core never reads a clock: the owner threads hand it the time with each command.

#include <atomic>
#include <chrono>

#include "libcore/base/time.h"
#include "protocol/simulation/steady_clock.h"

namespace yk {

/// The real time that the scheduler uses and that is shown: the machine's clock at the start, advanced by the steady
/// clock. It does not jump when somebody sets the machine's clock, since timers and liveness depend on it: an hour that
/// is skipped would make every RM a lost one. Instead follow() brings it back to the machine's clock: at once while no
/// core depends on it, else by at most kSlew at a time, so that timers run by up to 1 % faster or slower meanwhile. The
/// core does not see a step back of kSlew: the owner threads use the latest time they saw.
///
/// Thread: at() any, follow() one.
class RealClock {
public:
    static constexpr Duration kSlew = std::chrono::milliseconds{10}; // at each follow(), once a second

    RealClock(Duration wall, Duration steady) : offset_((wall - steady).count()) {}

    [[nodiscard]] Instant at(Duration steady) const {
        return Instant{steady.count() + offset_.load(std::memory_order_relaxed)};
    }
    /// Corrects this clock towards the machine's, `wall`, and returns how far that is still ahead (below 0: behind).
    /// `may_jump`: no core depends on this time now.
    Duration follow(Duration wall, Duration steady, bool may_jump);

private:
    std::atomic<std::int64_t> offset_; // ns, added to the steady clock
};

/// What the machine's clock shows now, which jumps when somebody sets it: for what people planned by it. Any thread.
[[nodiscard]] Instant machine_now();
/// The time of the process's RealClock. Any thread.
[[nodiscard]] Instant real_now();
/// Its follow(), with the time of the machine's clock. One thread.
Duration follow_wall_clock(bool may_jump);

} // namespace yk
