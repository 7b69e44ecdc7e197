// SPDX-License-Identifier: Apache-2.0
#pragma once
// The life of the process: signals, service manager, watchdog, graceful stop.

#include "ykd/process/daemon_settings.h"

namespace yk::service {

/// Blocks the signals that the daemon handles. To be called before anything starts a thread.
void block_signals();

/// Runs the daemon until a signal or a client stops it. Returns the exit code. The caller ends by _exit(), never by
/// exit(), as nng's threads cannot be closed reliably.
[[nodiscard]] int run_daemon(const DaemonSettings& settings, const std::string& version);

} // namespace yk::service
