// SPDX-License-Identifier: Apache-2.0
#pragma once
// DatabaseSettings: where the database of MCS is and how it is spoken to (`mcs.db` and `mcs.pg`).

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "ykd/settings/key_fault.h"

namespace yk::service {

struct DatabaseSettings {
    std::string url = "sqlite:mcs.db"; // a path that is not absolute is one in the state directory

    // SQLite alone
    bool waits_for_disk = true; // false: a power failure may cost the last commits; a killed daemon does not (rs R-022)
    Duration busy_timeout = std::chrono::seconds{5}; // that a statement waits for the locks of other processes

    // PostgreSQL alone
    Duration statement_timeout = std::chrono::seconds{3}; // kept by the server; the daemon gives up a second later
    bool notifies = true; // each commit wakes the daemons that follow, and waits for other commits (rs R-044)
};

[[nodiscard]] bool is_postgres(const std::string& url);
/// The path of `sqlite:PATH`; empty for every other text.
[[nodiscard]] std::string sqlite_path(const std::string& url, const std::string& state_directory);

/// Whether it is the path of one of their keys: of `mcs.db` or `mcs.pg`.
[[nodiscard]] bool is_database_key(std::string_view path);
/// `keys`: those that the settings have. One that has no effect with this database is a fault.
[[nodiscard]] std::vector<KeyFault> check_database_settings(const DatabaseSettings& settings,
                                                            const std::vector<std::string>& keys);

} // namespace yk::service
