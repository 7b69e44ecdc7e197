// SPDX-License-Identifier: Apache-2.0
#pragma once
// WalCheckpoints: keeps the write-ahead log of a database of SQLite short, beside those that write, so that no commit
// waits for it. What readers still need stays, and is copied the next time.
//
// Owner: the program. Thread: one call at a time; its connection is its own, and nobody waits for its locks.

#include "protocol/databases/sqlite_connection.h"

namespace yk::rs {

struct WalSettings {
    std::int64_t pages = 1000;                // of 4 KiB, that are copied together
    std::int64_t truncate_above = 64LL * 256; // pages, 64 MiB: the file is cut, as soon as no reader needs it
};

class WalCheckpoints {
public:
    WalCheckpoints(SqliteConnection& connection, const WalSettings& settings)
        : connection_(connection), settings_(settings) {}

    /// Whether enough was written. `pages`: in the log now (SqliteConnection::on_commit).
    [[nodiscard]] bool is_due(std::int64_t pages) const {
        return pages >= settings_.pages && (pages < pages_ || pages - pages_ >= settings_.pages);
    }
    /// Copies what can be copied. Returns how many pages the log still needs (rs R-021).
    [[nodiscard]] Result<std::int64_t, StoreError> run();

private:
    /// How few pages must be left to copy, for the file to be cut: whoever commits meanwhile waits for them. None would
    /// never be reached beside one who writes all the time.
    [[nodiscard]] std::int64_t most_left() const { return 4 * settings_.pages; }

    SqliteConnection& connection_;
    const WalSettings settings_;
    std::int64_t pages_ = 0; // of the log at the last run, copied ones included; a log that has fewer began anew
};

} // namespace yk::rs
