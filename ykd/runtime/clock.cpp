// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/clock.h"

#include <algorithm>

namespace yk {
namespace {

Duration wall_now() {
    if (const Simulator* const simulated = simulator()) return simulated->wall();
    return std::chrono::system_clock::now().time_since_epoch();
}

Duration steady_now() {
    return SteadyClock::now().time_since_epoch();
}

RealClock& process_clock() {
    static RealClock clock(wall_now(), steady_now());
    return clock;
}

} // namespace

Duration RealClock::follow(Duration wall, Duration steady, bool may_jump) {
    const Duration ahead = wall - Duration{at(steady).ns};
    const Duration moved = may_jump ? ahead : std::clamp(ahead, -kSlew, kSlew);
    offset_.fetch_add(moved.count(), std::memory_order_relaxed);
    return ahead - moved;
}

Instant machine_now() {
    return Instant{wall_now().count()};
}

Instant real_now() {
    return process_clock().at(steady_now());
}

Duration follow_wall_clock(bool may_jump) {
    return process_clock().follow(wall_now(), steady_now(), may_jump);
}

} // namespace yk
