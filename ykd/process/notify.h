// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages to the service manager, as sd_notify(3) sends them: one datagram of KEY=VALUE lines to $NOTIFY_SOCKET. It is
// written by hand as the protocol takes ten lines, and libsystemd would be one more dependency. Thread: any.

#include <optional>
#include <string>
#include <string_view>

#include "ykd/runtime/clock.h"

namespace yk::service {

/// Sends `lines` (`READY=1\nSTATUS=...`). Without $NOTIFY_SOCKET, or when nobody listens, nothing happens.
void notify(std::string_view lines);

/// Writes `ready` and a line feed to a descriptor, and closes it: for scripts, and for supervisors that wait for a
/// line. Nothing happens when its reader is gone.
void write_ready(int descriptor);

/// How often to send WATCHDOG=1: every half of $WATCHDOG_USEC; nullopt: it is not wanted of this process.
[[nodiscard]] std::optional<SteadyClock::duration> watchdog_interval();

/// The time of CLOCK_MONOTONIC in microseconds, which has to be sent with RELOADING=1.
[[nodiscard]] std::string monotonic_usec();

} // namespace yk::service
