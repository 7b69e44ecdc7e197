// SPDX-License-Identifier: Apache-2.0
#pragma once
// SqliteChangeLog: the change log of a database of SQLite. Only one transaction writes at a time, so events are
// numbered in the order of their commits.
//
// Owner: the program. Thread: one call at a time; its connection is its own.

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
};

} // namespace yk::rs
