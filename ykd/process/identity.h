// SPDX-License-Identifier: Apache-2.0
#pragma once
// Identity: which run of which version of the program this is. It does not change while the process lives.

#include <string>

#include "ykd/process/random_bytes.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

struct Identity {
    std::string version;
    Bytes16 boot_id = random_bytes(); // random at each start, so that clients notice a restart (I-260)
    SteadyClock::time_point started = SteadyClock::now();

    [[nodiscard]] Duration uptime() const { return Duration{SteadyClock::now() - started}; }
};

} // namespace yk::service
