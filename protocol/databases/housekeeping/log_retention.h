// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of the change log of a database of SQLite is kept, for those who read it late.

#include <chrono>
#include <cstdint>
#include <optional>

#include "protocol/databases/sqlite_schema.h"

namespace yk::rs {

struct LogRetention {
    std::chrono::milliseconds keep = std::chrono::hours{24};
    std::uint64_t most_rows = 10'000'000;
};

struct PurgeReport {
    std::int64_t removed = 0;
    bool has_more = false;       // another call removes more
    bool is_relay_stuck = false; // events were given up that the relay has not sent: it will find a gap
    std::int64_t rows = 0;       // that are left, about: numbers that were never used count, too
};

/// Removes a chunk of events that are older than they are kept, or too many. `relayed`: up to where the relay has sent
/// them; nullopt: there is none. What it has not sent stays, but no more than most_rows of it (rs R-016). Cost: O(the
/// chunk), so that nobody waits long to write.
[[nodiscard]] Result<PurgeReport, StoreError> purge_old(SqliteConnection& connection, const LogRetention& retention,
                                                        std::optional<std::uint64_t> relayed);

} // namespace yk::rs
