#pragma once
// The daemon's clocks (I-353). The core never reads one: the owner threads hand it the time.

#include <atomic>
#include <chrono>

#include "libcore/base/time.h"

namespace yk {

/// What waits, polls, sessions and deadlines use: always real.
using SteadyClock = std::chrono::steady_clock;

/// The real time that the scheduler goes by and that is shown: the machine's clock at the start, moved on by the steady
/// one. It does not follow when somebody sets the machine's clock, for timers and liveness hang on it: an hour that is
/// skipped would make every RM a lost one. Instead follow() brings it back to the truth: at once while nobody hangs on
/// it, else by at most kSlew at a time, so that timers run one in a hundred faster or slower meanwhile. A step back of
/// kSlew is not seen by the core: the owner threads take the latest time they saw.
class RealClock {
public:
    static constexpr Duration kSlew = std::chrono::milliseconds{10}; // at each follow(), which is once a second

    RealClock(Duration wall, Duration steady) : offset_((wall - steady).count()) {}

    [[nodiscard]] Instant at(Duration steady) const {
        return Instant{steady.count() + offset_.load(std::memory_order_relaxed)};
    }
    /// Compares with the machine's clock, moves and returns how far it is still ahead of this one (below zero: behind).
    /// `may_jump`: no core goes by this time now.
    Duration follow(Duration wall, Duration steady, bool may_jump);

private:
    std::atomic<std::int64_t> offset_; // of the steady clock
};

/// RealClock of the process, now. Any thread.
[[nodiscard]] Instant real_now();
/// Its follow(). One thread.
Duration follow_wall_clock(bool may_jump);

} // namespace yk
