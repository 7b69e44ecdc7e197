// SPDX-License-Identifier: Apache-2.0
#pragma once
// SchedulerClock: the time that the scheduler uses. It is the real time (RealClock), or, with --clock virtual, a time
// that stands still until somebody advances it (I-353).
//
// Owner: Daemon. Thread: any.

#include <atomic>

#include "ykd/runtime/clock.h"

namespace yk {

class SchedulerClock {
public:
    explicit SchedulerClock(bool is_virtual) : is_virtual_(is_virtual), virtual_now_(real_now().ns) {}

    [[nodiscard]] Instant now() const {
        return is_virtual_ ? Instant{virtual_now_.load(std::memory_order_relaxed)} : real_now();
    }
    /// Advances the virtual time and returns the new one. The owner threads do not read it: the caller has each of them
    /// advance (RmOwner::advance).
    Instant advance(Duration by) { return Instant{virtual_now_.fetch_add(by.count()) + by.count()}; }

private:
    const bool is_virtual_;
    std::atomic<std::int64_t> virtual_now_;
};

} // namespace yk
