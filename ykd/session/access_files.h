// SPDX-License-Identifier: Apache-2.0
#pragma once
// AccessFiles: reads peers and tokens from their files, at the start and at every reload.
//
// Owner: Daemon. Thread: any.

#include <mutex>
#include <optional>
#include <string>

#include "ykd/process/daemon_settings.h"
#include "ykd/process/reload_note.h"
#include "ykd/session/access.h"

namespace yk::service {

class AccessFiles {
public:
    AccessFiles(const DaemonSettings& settings, Access& access) : settings_(settings), access_(access) {}

    /// Reads the files and puts them in force. After an error, and with `only_try`, the former rules stay. Reads from
    /// the disk.
    [[nodiscard]] Result<void> load(bool only_try);
    /// As load(), for a reload: returns why the former rules stay, empty if the new ones are in force, and remembers
    /// it.
    [[nodiscard]] std::string reread(bool only_try);
    /// How the last reread() without `only_try` ended; nullopt: there was none.
    [[nodiscard]] std::optional<ReloadNote> last_reread() const;

private:
    const DaemonSettings& settings_;
    Access& access_;
    mutable std::mutex mutex_;
    std::optional<ReloadNote> last_;
};

} // namespace yk::service
