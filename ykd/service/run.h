#pragma once
// The life of the process: signals, service manager, watchdog, graceful stop (ecosystem.md 5.2).

#include "ykd/service/daemon_settings.h"

namespace yk::service {

/// Blocks the signals that the daemon handles. Before anything starts a thread.
void block_signals();

/// Runs until told to stop. Returns the exit code; the caller leaves by _exit(), never by exit(): nng's threads cannot
/// be closed reliably (ecosystem.md 2.7).
[[nodiscard]] int run_daemon(const DaemonSettings& settings, const std::string& version);

} // namespace yk::service
