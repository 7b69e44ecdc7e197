// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of a database that keeps resource state (section 3 of docs/spec/resource-state.md), and the triggers by
// which every change of a row is in the change log, whoever makes it, in the same transaction.

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/resource_state/ports/resource.h"
#include "protocol/databases/sqlite_connection.h"

namespace yk::rs {

/// Makes the tables that every database has, if they are not there. `identity`: a random name for a new database, of
/// which its epoch is made, too. Refuses a database of a newer program, with both numbers.
[[nodiscard]] Result<void, StoreError> make_state_tables(SqliteConnection& connection, std::string_view identity);

/// Makes the table of a kind with its triggers, if it is not there. `columns`: definitions of the kind's own columns.
[[nodiscard]] Result<void, StoreError> make_kind_table(SqliteConnection& connection, Kind kind, std::string_view table,
                                                       std::string_view columns);

/// The statements that make the triggers of a table: three that log, and one that guards versions.
[[nodiscard]] std::string kind_triggers(Kind kind, std::string_view table);

/// Removes events up to a position, at most so many, and notes how far in the same transaction. Returns how many.
inline constexpr std::int64_t kPurgedTogether = 5000;
[[nodiscard]] Result<std::int64_t, StoreError> purge_log(SqliteConnection& connection, std::uint64_t up_to,
                                                         std::int64_t most = kPurgedTogether);

/// What says where the log is: read within the transaction of the rows or events that it is to be compared with.
[[nodiscard]] inline Result<Cursor, StoreError> log_head(SqliteConnection& connection) {
    return connection.log_head(SqlAccess::Read);
}
[[nodiscard]] Result<std::uint64_t, StoreError> log_floor(SqliteConnection& connection);

} // namespace yk::rs
