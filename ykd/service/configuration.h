#pragma once
// Reload of configuration files outside a request (SIGHUP, --watch-config).

#include <string>

#include "ykd/service/rm_table.h"

namespace yk::service {

class Daemon;

/// Reads the RM's file anew and applies it, or keeps what there is. Waits for the owner thread for a few seconds: only
/// for the control thread. Returns one line for people.
[[nodiscard]] std::string reload_from_file(Daemon& daemon, const RmPtr& rm);

} // namespace yk::service
