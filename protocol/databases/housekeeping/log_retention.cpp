// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/housekeeping/log_retention.h"

#include <algorithm>

namespace yk::rs {
namespace {

/// The last event, within the next chunk, up to which all are too old; 0: none is. A clock that was set back makes
/// events look younger than those after them: these wait for them.
Result<std::uint64_t, StoreError> last_too_old(SqliteConnection& connection, std::chrono::milliseconds keep) {
    SqliteStatement ask = connection.statement(
        "WITH chunk AS (SELECT seq, at_ms FROM change_log ORDER BY seq LIMIT ?1)"
        " SELECT coalesce((SELECT min(seq) - 1 FROM chunk WHERE at_ms >= " YK_NOW_MS " - ?2), max(seq), 0) FROM chunk");
    YK_TRY(has_row, ask.bind(1, kPurgedTogether).bind(2, std::int64_t{keep.count()}).step());
    return has_row ? static_cast<std::uint64_t>(ask.number(0)) : 0U;
}

/// Numbers follow each other, and the oldest go first. Both ends are found by the index.
Result<std::int64_t, StoreError> rows_of_log(SqliteConnection& connection) {
    SqliteStatement ask = connection.statement(
        "SELECT coalesce((SELECT max(seq) FROM change_log) - (SELECT min(seq) FROM change_log) + 1, 0)");
    YK_TRY(has_row, ask.step());
    return has_row ? ask.number(0) : std::int64_t{0};
}

} // namespace

Result<PurgeReport, StoreError> purge_old(SqliteConnection& connection, const LogRetention& retention,
                                          std::optional<std::uint64_t> relayed) {
    YK_TRY(head, log_head(connection));
    const std::uint64_t last = head.lanes[0].sequence;
    const std::uint64_t too_many = last - std::min(last, retention.most_rows);
    YK_TRY(too_old, last_too_old(connection, retention.keep));
    PurgeReport report;
    report.is_relay_stuck = relayed && *relayed < too_many;
    const std::uint64_t up_to = std::max(too_many, relayed ? std::min(too_old, *relayed) : too_old);
    YK_TRY(removed, purge_log(connection, up_to));
    report.removed = removed;
    report.has_more = removed == kPurgedTogether;
    YK_TRY(rows, rows_of_log(connection));
    report.rows = rows;
    return report;
}

} // namespace yk::rs
