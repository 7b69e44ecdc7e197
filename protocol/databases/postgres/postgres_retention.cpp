// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/postgres/postgres_retention.h"

#include <algorithm>
#include <limits>

#include "libcore/base/number.h"
#include "protocol/databases/postgres/postgres_schema.h"

namespace yk::mcs {
namespace {

constexpr rs::Position kLast{std::numeric_limits<std::int64_t>::max(), 0};

/// The first of the events that the next chunk may have. A row of the answer says where one is; none: all may go.
constexpr const char* kChunk =
    "SELECT xid, seq FROM (SELECT xid, seq, at_ms FROM change_log WHERE xid < pg_snapshot_xmin(pg_current_snapshot())"
    " ORDER BY xid, seq LIMIT ?1) chunk WHERE seq > ?2 AND (at_ms >= " YK_NOW_MS " - ?3 OR"
    " (xid, seq) > (CAST(?4 AS xid8), ?5)) ORDER BY xid, seq LIMIT 1";

Result<std::int64_t, rs::StoreError> last_number(rs::PostgresConnection& connection) {
    return connection.number("SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('change_log', 'seq')), 0)");
}

/// Of the numbers up to the last one, those from the first event on. The sequence counts what was rolled back, too.
Result<std::int64_t, rs::StoreError> rows_of_log(rs::PostgresConnection& connection, std::int64_t last) {
    rs::SqlStatement ask = connection.statement("SELECT seq FROM change_log ORDER BY xid, seq LIMIT 1");
    YK_TRY(has_row, ask.step());
    return has_row ? std::max<std::int64_t>(1, last - ask.number(0) + 1) : std::int64_t{0};
}

/// Whether the relay has not sent one of the events that are too many.
Result<bool, rs::StoreError> is_stuck(rs::PostgresConnection& connection, const rs::Position& relayed,
                                      std::int64_t too_many) {
    rs::SqlStatement ask = connection.statement(
        "SELECT 1 FROM change_log WHERE (xid, seq) > (CAST(?1 AS xid8), ?2) AND seq <= ?3 LIMIT 1");
    const std::string transaction = std::to_string(relayed.transaction);
    ask.bind(1, std::string_view{transaction}).bind(2, static_cast<std::int64_t>(relayed.sequence)).bind(3, too_many);
    return ask.step();
}

/// Everything before the first event that stays.
Result<rs::Position, rs::StoreError> end_of_purge(rs::PostgresConnection& connection, const rs::LogRetention& retention,
                                                  const rs::Position& relayed, std::int64_t too_many) {
    rs::SqlStatement ask = connection.statement(kChunk);
    const std::string transaction = std::to_string(relayed.transaction);
    ask.bind(1, kPurgedTogether).bind(2, too_many).bind(3, std::int64_t{retention.keep.count()});
    ask.bind(4, std::string_view{transaction}).bind(5, static_cast<std::int64_t>(relayed.sequence));
    YK_TRY(has_kept, ask.step());
    if (!has_kept) return kLast;
    const auto first = to_number<std::uint64_t>(ask.text(0)).value_or(0);
    return rs::Position{first, static_cast<std::uint64_t>(ask.number(1)) - 1};
}

} // namespace

Result<rs::PurgeReport, rs::StoreError> purge_old(rs::PostgresConnection& connection, const rs::LogRetention& retention,
                                                  std::optional<rs::Position> relayed) {
    YK_TRY(last, last_number(connection));
    const std::int64_t too_many = last - static_cast<std::int64_t>(retention.most_rows);
    rs::PurgeReport report;
    if (relayed) {
        YK_TRY(stuck, is_stuck(connection, *relayed, too_many));
        report.is_relay_stuck = stuck;
    }
    YK_TRY(up_to, end_of_purge(connection, retention, relayed.value_or(kLast), too_many));
    YK_TRY(removed, purge_log(connection, up_to));
    report.removed = removed;
    report.has_more = removed >= kPurgedTogether;
    YK_TRY(rows, rows_of_log(connection, last));
    report.rows = rows;
    return report;
}

} // namespace yk::mcs
