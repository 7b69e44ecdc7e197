#pragma once
// Messages to the service manager (sd_notify): one datagram of KEY=VALUE lines to $NOTIFY_SOCKET. Written by hand: the
// protocol is ten lines, libsystemd a dependency (ecosystem.md 5.2).

#include <optional>
#include <string>
#include <string_view>

#include "ykd/runtime/clock.h"

namespace yk::service {

/// Sends `lines` (`READY=1\nSTATUS=...`); without $NOTIFY_SOCKET, or when nobody listens, silently nothing.
void notify(std::string_view lines);

/// How often WATCHDOG=1 is wanted: half of $WATCHDOG_USEC, if that is meant for this process.
[[nodiscard]] std::optional<SteadyClock::duration> watchdog_interval();

/// CLOCK_MONOTONIC in microseconds, which RELOADING=1 has to carry.
[[nodiscard]] std::string monotonic_usec();

} // namespace yk::service
