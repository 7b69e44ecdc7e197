// SPDX-License-Identifier: Apache-2.0
#pragma once
// SqliteChangeLog: the change log of a database of SQLite. Only one transaction writes at a time, so events are
// numbered in the order of their commits.
//
// A look that finds no commit since the last one costs a few microseconds and reads no table (rs R-039).
//
// Owner: the program. Thread: one call at a time; its connection is its own, since SQLite does not count the commits of
// the connection that asks.

#include <cstdint>
#include <optional>

#include "libcore/resource_state/ports/change_log.h"
#include "protocol/databases/sqlite_schema.h"

namespace yk::rs {

class SqliteChangeLog final : public ChangeLog {
public:
    explicit SqliteChangeLog(SqliteConnection& connection) : connection_(connection) {}

    [[nodiscard]] Result<void, LogFault> open(const CapturedCursor& from) override;
    [[nodiscard]] Result<EventBatch, LogFault> poll(std::size_t most) override;

private:
    [[nodiscard]] Result<Cursor, LogFault> read_latest() override;
    [[nodiscard]] Result<void, LogFault> check_position();
    [[nodiscard]] Result<EventBatch, StoreError> read_batch(std::size_t most);

    SqliteConnection& connection_;
    Cursor position_;
    std::optional<std::int64_t> read_at_; // everything of this data_version was read
};

} // namespace yk::rs
