// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/sqlite_change_log.h"

#include <utility>

#include "protocol/databases/change_rows.h"

namespace yk::rs {
namespace {

LogFault down(const StoreError& error) {
    return {LogFault::What::Down, {}, error.message, error.damage != Damage::None};
}

/// The value, or Down as an answer of the enclosing function.
#define YK_READ(name, expr)                                                                                            \
    auto YK_CONCAT(yk_read_, __LINE__) = (expr);                                                                       \
    if (!YK_CONCAT(yk_read_, __LINE__).ok()) return down(YK_CONCAT(yk_read_, __LINE__).error());                       \
    auto name = std::move(YK_CONCAT(yk_read_, __LINE__)).value()

} // namespace

Result<Cursor, LogFault> SqliteChangeLog::read_latest() {
    SqliteTransaction transaction{connection_, SqliteTransaction::Kind::Read};
    if (!transaction.begun().ok()) return down(transaction.begun().error());
    YK_READ(head, log_head(connection_));
    return head;
}

Result<void, LogFault> SqliteChangeLog::open(const CapturedCursor& from) {
    SqliteTransaction transaction{connection_, SqliteTransaction::Kind::Read};
    if (!transaction.begun().ok()) return down(transaction.begun().error());
    position_ = from.cursor();
    read_at_.reset();
    return check_position();
}

/// The floor and the batch are of one transaction, so that no purge comes between them (rs R-040). The version is from
/// before it: what is committed in between is read, and the next look finds another version for it.
Result<EventBatch, LogFault> SqliteChangeLog::poll(std::size_t most) {
    if (const auto place = connection_.check_place(); !place.ok()) return down(place.error());
    YK_READ(version, connection_.number("PRAGMA data_version"));
    if (read_at_ == version) return EventBatch{{}, position_, {}, false};
    SqliteTransaction transaction{connection_, SqliteTransaction::Kind::Read};
    if (!transaction.begun().ok()) return down(transaction.begun().error());
    YK_CHECKED(check_position());
    YK_READ(batch, read_batch(most));
    position_ = batch.position;
    read_at_ = batch.may_have_more ? std::nullopt : std::optional{version};
    return batch;
}

/// A position below the floor lost what was purged; one above the end, or of another epoch, is of another database, or
/// of a later state of this one (rs R-015, rs R-032).
Result<void, LogFault> SqliteChangeLog::check_position() {
    YK_READ(head, log_head(connection_));
    YK_READ(floor, log_floor(connection_));
    if (!reaches(head, position_))
        return LogFault{LogFault::What::Gap, RelistReason::Epoch, "the log is not the one that was read until now"};
    if (position_.lanes[0].sequence < floor)
        return LogFault{LogFault::What::Gap, RelistReason::Purged, "the log was purged beyond what was read"};
    return {};
}

Result<EventBatch, StoreError> SqliteChangeLog::read_batch(std::size_t most) {
    SqliteStatement tail = connection_.statement(
        "SELECT seq, kind, op, id, uid, version FROM change_log WHERE seq > ? ORDER BY seq LIMIT ?");
    tail.bind(1, static_cast<std::int64_t>(position_.lanes[0].sequence)).bind(2, static_cast<std::int64_t>(most));
    return read_changes(tail, position_, most, [](const SqlRow& /*row*/) { return std::uint64_t{0}; });
}

} // namespace yk::rs
