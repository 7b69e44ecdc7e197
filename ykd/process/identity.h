// SPDX-License-Identifier: Apache-2.0
#pragma once
// Identity: which run of which version of the program this is. It does not change while the process lives.

#include <cstdint>
#include <string>

#include "ykd/process/random_bytes.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

struct Identity {
    std::string version;
    Bytes16 boot_id = random_bytes(); // random at each start, so that clients notice a restart (I-260)
    SteadyClock::time_point started = SteadyClock::now();

    /// The stream epochs of this run come after this number, and are those of no other run. As a float it is exact.
    [[nodiscard]] std::uint64_t epoch_base() const {
        const std::uint64_t run = (boot_id[0] & 0x7FU) << 24U | static_cast<std::uint64_t>(boot_id[1]) << 16U |
                                  static_cast<std::uint64_t>(boot_id[2]) << 8U | boot_id[3];
        return run << 20U;
    }
    [[nodiscard]] Duration uptime() const { return Duration{SteadyClock::now() - started}; }
};

} // namespace yk::service
