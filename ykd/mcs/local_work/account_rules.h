// SPDX-License-Identifier: Apache-2.0
#pragma once
// As whom the command of a replica runs: as whoever gave it, as the kernel names the peer, or as the one account that
// the settings name; never as root, and never with the daemon's own rights unless these are those of whoever gave it.

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "protocol/work/allocation_work.h"
#include "ykd/process/daemon_settings.h"

namespace yk::service {

/// Who gave a command, as the daemon writes it into the Deployment: `uid 1000` of a peer of this machine, else the name
/// of what the peer was admitted by.
[[nodiscard]] std::string submitter_text(bool is_local, uid_t uid, const std::string& identity);

/// Whether the settings allow commands from this queue. `queue` is a full path.
[[nodiscard]] bool may_run_from(const LocalWorkSettings& settings, std::string_view queue);

/// The account for a command of this submitter. An error says why nothing runs, and what would help. Asks the system
/// who is who, which may take seconds.
[[nodiscard]] Result<work::Account> account_for(const LocalWorkSettings& settings, const std::string& submitter);

} // namespace yk::service
