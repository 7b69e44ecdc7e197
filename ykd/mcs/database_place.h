// SPDX-License-Identifier: Apache-2.0
#pragma once
// DatabasePlace: the database of MCS as the settings say it, with its path or address in full.

#include <string>

#include "libcore/base/result.h"
#include "ykd/settings/database_settings.h"

namespace yk::service {

struct DatabasePlace {
    enum class Kind { Sqlite, Postgres };
    Kind kind = Kind::Sqlite;
    std::string where; // a path, or what libpq connects to
    std::string shown; // for people: without a password
    DatabaseSettings settings{};
    // PostgreSQL: the server ends a transaction in which nothing comes for so long. One of a leader that hangs holds
    // its lease and the change log back, so this is no longer than a lease.
    Duration idle_limit = std::chrono::seconds{15};
};

/// Whether nobody else can put a database in the place of one in the state directory: it says which commands run, as
/// whom. Every other place is the operator's.
[[nodiscard]] Result<void> check_database_place(const DatabaseSettings& settings, const std::string& state_directory);

[[nodiscard]] DatabasePlace database_place(const DatabaseSettings& settings, const std::string& state_directory);

} // namespace yk::service
