// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/postgres/postgres_change_log.h"

#include <algorithm>
#include <utility>

#include "libcore/base/number.h"
#include "protocol/databases/change_rows.h"

namespace yk::rs {
namespace {

LogFault down(const StoreError& error) {
    return {LogFault::What::Down, {}, error.message};
}

LogFault gap(RelistReason reason, std::string message) {
    return {LogFault::What::Gap, reason, std::move(message)};
}

std::uint64_t transaction_of(const std::string& text) {
    return to_number<std::uint64_t>(text).value_or(0);
}

/// The value, or Down as an answer of the enclosing function.
#define YK_READ(name, expr)                                                                                            \
    auto YK_CONCAT(yk_read_, __LINE__) = (expr);                                                                       \
    if (!YK_CONCAT(yk_read_, __LINE__).ok()) return down(YK_CONCAT(yk_read_, __LINE__).error());                       \
    auto name = std::move(YK_CONCAT(yk_read_, __LINE__)).value()

} // namespace

Result<PostgresChangeLog::State, StoreError> PostgresChangeLog::read_state() {
    SqlStatement ask = connection_.statement(
        "SELECT (SELECT value FROM mcs_meta WHERE key = 'log_epoch'),"
        " (SELECT value FROM mcs_meta WHERE key = 'log_floor'), pg_snapshot_xmin(s), pg_snapshot_xmax(s),"
        " EXISTS(SELECT 1 FROM change_log WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())"
        " AND xid < pg_snapshot_xmax(pg_current_snapshot()))"
        " FROM pg_current_snapshot() s");
    YK_TRY(has_row, ask.step());
    static_cast<void>(has_row);
    State state;
    state.fence = {connection_.epoch_of(ask.text(0)), {Position{transaction_of(ask.text(2)), 0}}};
    state.end = {transaction_of(ask.text(3)), 0};
    state.holds_back = ask.number(4) != 0;
    const auto floor = Cursor::parse(ask.text(1) + '@');
    // A floor that no transaction has reached yet came with a copy of the tables of another server (pg_dump).
    if (floor && !floor->lanes.empty() && floor->lanes[0] <= state.end) state.floor = floor->lanes[0];
    return state;
}

/// Sequence numbers begin at 1, so the position before the first of them includes every earlier transaction, and
/// nothing of this one (rs R-042).
Result<Cursor, LogFault> PostgresChangeLog::read_latest() {
    SqlTransaction transaction{connection_, SqlAccess::Read};
    if (!transaction.begun().ok()) return down(transaction.begun().error());
    YK_READ(state, read_state());
    return state.fence;
}

Result<void, LogFault> PostgresChangeLog::open(const CapturedCursor& from) {
    if (notifies_) {
        if (const auto listening = connection_.listen(); !listening.ok()) return down(listening.error());
    }
    SqlTransaction transaction{connection_, SqlAccess::Read};
    if (!transaction.begun().ok()) return down(transaction.begun().error());
    YK_READ(state, read_state());
    position_ = from.cursor();
    has_read_all_ = false;
    return check_position(state);
}

/// What is committed after the question has another notification, and so a question of its own. What is held back has
/// not: it is asked for until it comes.
Result<EventBatch, LogFault> PostgresChangeLog::poll(std::size_t most) {
    const auto now = SteadyClock::now();
    const bool has_news = !notifies_ || connection_.has_news();
    if (has_read_all_ && !has_news && now - read_at_ < backstop_) return EventBatch{{}, position_, {}, false};
    SqlTransaction transaction{connection_, SqlAccess::Read};
    if (!transaction.begun().ok()) return down(transaction.begun().error());
    YK_READ(state, read_state());
    YK_CHECKED(check_position(state));
    YK_READ(batch, read_batch(most));
    if (!batch.may_have_more) batch.position.advance(0, state.fence.lanes[0]);
    position_ = batch.position;
    has_read_all_ = !batch.may_have_more && !state.holds_back;
    read_at_ = now;
    return batch;
}

/// A position below the floor lost what was purged. One of another epoch, or of a transaction that has not begun, is of
/// another database or of a later state of this one (rs R-015, rs R-032).
Result<void, LogFault> PostgresChangeLog::check_position(const State& state) const {
    const bool is_same = position_.epoch == state.fence.epoch && position_.lanes.size() == 1;
    if (!is_same || position_.lanes[0] > state.end)
        return gap(RelistReason::Epoch, "the log is not the one that was read until now");
    if (position_.lanes[0] < state.floor) return gap(RelistReason::Purged, "the log was purged beyond what was read");
    return {};
}

Result<EventBatch, StoreError> PostgresChangeLog::read_batch(std::size_t most) {
    SqlStatement tail = connection_.statement(
        "SELECT seq, kind, op, id, uid, version, xid FROM change_log WHERE (xid, seq) > (CAST(?1 AS xid8), ?2)"
        " AND xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, seq LIMIT ?3");
    const std::string after = std::to_string(position_.lanes[0].transaction);
    tail.bind(1, std::string_view{after}).bind(2, static_cast<std::int64_t>(position_.lanes[0].sequence));
    tail.bind(3, static_cast<std::int64_t>(most));
    return read_changes(tail, position_, most, [](const SqlRow& row) { return transaction_of(row.text(6)); });
}

/// Transactions that only read have no number, and hold nothing back. Those that were prepared belong to no process.
Result<std::optional<FenceHolder>, StoreError> find_fence_holder(PostgresConnection& connection) {
    SqlStatement ask = connection.statement(
        "SELECT (extract(epoch FROM clock_timestamp() - since) * 1000)::bigint, who FROM ("
        " SELECT xact_start AS since, 'process ' || pid || ' of ' || coalesce(usename, '') || ' in ' ||"
        " coalesce(datname, '') || ', ' || coalesce(state, '') || ' since ' || coalesce(query_start::text, '') AS who"
        " FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()"
        " UNION ALL SELECT prepared, 'prepared transaction ' || gid || ' of ' || owner || ' in ' || database"
        " FROM pg_prepared_xacts) holders ORDER BY since LIMIT 1");
    YK_TRY(has_row, ask.step());
    if (!has_row) return std::optional<FenceHolder>{};
    return std::optional{FenceHolder{std::chrono::milliseconds{ask.number(0)}, ask.text(1)}};
}

} // namespace yk::rs
