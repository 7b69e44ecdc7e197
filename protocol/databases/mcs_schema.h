// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of the Autoscaler and the Scheduler in a database (section 3 of docs/spec/resource-state.md),
// and how a database of an older program becomes one of this program.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/databases/sqlite_connection.h"

namespace yk::mcs {

/// The tables of the first version, but for the change log and the triggers that write it, which are not the same in
/// each kind of database; in the words of SQLite.
[[nodiscard]] std::string first_tables();
/// The tables whose rows are in the change log.
[[nodiscard]] std::span<const std::pair<rs::Kind, const char*>> kind_tables();

/// What each version of the schema adds to the one before it in SQLite; the first one makes everything.
[[nodiscard]] std::span<const std::string> schema_steps();

/// Which version of the schema a database says that it has; nullopt: none. Something that is no version is Fatal.
[[nodiscard]] Result<std::optional<std::int64_t>, rs::StoreError> read_schema_version(rs::SqlConnection& connection);

/// Brings a database to the newest version, in one transaction: all steps that it has not seen, or none. A database of
/// a newer program is refused, with both versions (rs R-020). `identity`: a random name for a database that is made
/// now.
[[nodiscard]] Result<void, rs::StoreError> migrate(rs::SqlConnection& connection, std::string_view identity,
                                                   std::span<const std::string> steps = schema_steps());

/// Which database a file holds: `uid` stays for its whole life, `log_epoch` changes when its past does, as by a
/// restore.
struct DatabaseIdentity {
    std::string uid;
    std::string log_epoch;
};
[[nodiscard]] Result<DatabaseIdentity, rs::StoreError> read_identity(rs::SqlConnection& connection);
/// Gives the change log another name: whoever follows it finds a gap, and reads all rows anew (rs R-032).
[[nodiscard]] Result<void, rs::StoreError> set_log_epoch(rs::SqlConnection& connection, std::string_view epoch);

/// Another connection to a database that was seen before. Another database in the place of that one is Fatal, so that
/// nothing is read from it (rs R-031). Another epoch is let pass: the change log answers a gap for it.
[[nodiscard]] Result<std::unique_ptr<rs::SqliteConnection>, rs::StoreError>
reconnect(const std::string& path, const DatabaseIdentity& first, const rs::SqliteSettings& settings = {});

} // namespace yk::mcs
