// SPDX-License-Identifier: Apache-2.0
#pragma once
// The clock by which MCS waits.

#include "libcore/base/time.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::service {

[[nodiscard]] inline Instant steady_instant() {
    return Instant{SteadyClock::now().time_since_epoch().count()};
}

} // namespace yk::service
