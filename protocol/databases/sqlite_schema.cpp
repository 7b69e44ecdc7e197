// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/sqlite_schema.h"

namespace yk::rs {
namespace {

constexpr std::int64_t kVersion = 1;

constexpr const char* kTables = R"(
    CREATE TABLE IF NOT EXISTS mcs_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS change_log(
        seq INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, op INTEGER NOT NULL,
        id TEXT NOT NULL, uid TEXT, version INTEGER, at_ms INTEGER NOT NULL);
)";

/// $T: table, $K: number of the kind, $C: columns, $N: now. An event is as old as the change itself, not as the row
/// says: nobody writes the time into a row that is deleted, and the log keeps events by their age (rs R-016). The last
/// trigger lets nobody change a row without a new version (rs R-011).
constexpr const char* kKind = R"(
    CREATE TABLE IF NOT EXISTS $T(
        id TEXT PRIMARY KEY CHECK(length(id) BETWEEN 1 AND 200), uid TEXT NOT NULL UNIQUE,
        version INTEGER NOT NULL CHECK(version >= 1), generation INTEGER NOT NULL,
        writer_epoch INTEGER NOT NULL DEFAULT 0, created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL,
        $C) WITHOUT ROWID;
)";
constexpr const char* kTriggers = R"(
    CREATE TRIGGER IF NOT EXISTS $T_ci AFTER INSERT ON $T BEGIN
        INSERT INTO change_log(kind, op, id, uid, version, at_ms)
        VALUES($K, 1, NEW.id, NEW.uid, NEW.version, $N); END;
    CREATE TRIGGER IF NOT EXISTS $T_cu AFTER UPDATE ON $T BEGIN
        INSERT INTO change_log(kind, op, id, uid, version, at_ms)
        VALUES($K, 2, NEW.id, NEW.uid, NEW.version, $N); END;
    CREATE TRIGGER IF NOT EXISTS $T_cd AFTER DELETE ON $T BEGIN
        INSERT INTO change_log(kind, op, id, uid, version, at_ms)
        VALUES($K, 3, OLD.id, OLD.uid, OLD.version, $N); END;
    CREATE TRIGGER IF NOT EXISTS $T_vg BEFORE UPDATE ON $T
        WHEN NEW.id IS NOT OLD.id OR NEW.uid IS NOT OLD.uid OR NEW.version IS NOT OLD.version + 1 BEGIN
        SELECT RAISE(ABORT, '$T: version must be old+1; id and uid are fixed'); END;
)";

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

Result<void, StoreError> set_if_new(SqliteConnection& connection, std::string_view key, std::string_view value) {
    SqliteStatement insert =
        connection.statement("INSERT INTO mcs_meta(key, value) VALUES(?, ?) ON CONFLICT DO NOTHING");
    YK_TRY(has_row, insert.bind(1, key).bind(2, value).step());
    static_cast<void>(has_row);
    return {};
}

} // namespace

Result<void, StoreError> make_state_tables(SqliteConnection& connection, std::string_view identity) {
    SqliteTransaction transaction{connection, SqliteTransaction::Kind::Write};
    YK_CHECKED(transaction.begun());
    YK_CHECKED(connection.run(kTables));
    YK_CHECKED(set_if_new(connection, "schema_version", std::to_string(kVersion)));
    YK_CHECKED(set_if_new(connection, "db_uid", identity));
    YK_CHECKED(set_if_new(connection, "log_epoch", identity));
    YK_CHECKED(set_if_new(connection, "log_floor", "0"));
    YK_TRY(version, connection.number("SELECT CAST(value AS INTEGER) FROM mcs_meta WHERE key = 'schema_version'"));
    if (version > kVersion)
        return StoreError{StoreFault::Fatal, "the database has schema " + std::to_string(version) +
                                                 ", and this program knows " + std::to_string(kVersion) +
                                                 "; use the program that wrote it"};
    return transaction.commit();
}

std::string kind_triggers(Kind kind, std::string_view table) {
    std::string sql = kTriggers;
    replace_all(sql, "$T", table);
    replace_all(sql, "$N", YK_NOW_MS);
    replace_all(sql, "$K", std::to_string(static_cast<std::uint32_t>(kind)));
    return sql;
}

Result<void, StoreError> make_kind_table(SqliteConnection& connection, Kind kind, std::string_view table,
                                         std::string_view columns) {
    std::string sql = kKind;
    replace_all(sql, "$T", table);
    replace_all(sql, "$C", columns);
    sql += kind_triggers(kind, table);
    SqliteTransaction transaction{connection, SqliteTransaction::Kind::Write};
    YK_CHECKED(transaction.begun());
    YK_CHECKED(connection.run(sql));
    return transaction.commit();
}

Result<std::int64_t, StoreError> purge_log(SqliteConnection& connection, std::uint64_t up_to, std::int64_t most) {
    SqliteTransaction transaction{connection, SqliteTransaction::Kind::Write};
    YK_CHECKED(transaction.begun());
    SqliteStatement last =
        connection.statement("SELECT max(seq) FROM (SELECT seq FROM change_log WHERE seq <= ? ORDER BY seq LIMIT ?)");
    YK_TRY(has_row, last.bind(1, static_cast<std::int64_t>(up_to)).bind(2, most).step());
    const std::int64_t floor = has_row ? last.number(0) : 0;
    if (floor == 0) return std::int64_t{0};
    SqliteStatement remove = connection.statement("DELETE FROM change_log WHERE seq <= ?");
    YK_TRY(removed, remove.bind(1, floor).step());
    static_cast<void>(removed);
    const std::int64_t count = connection.changes();
    SqliteStatement note = connection.statement("UPDATE mcs_meta SET value = ? WHERE key = 'log_floor'");
    YK_TRY(noted, note.bind(1, floor).step());
    static_cast<void>(noted);
    YK_CHECKED(transaction.commit());
    return count;
}

Result<std::uint64_t, StoreError> log_floor(SqliteConnection& connection) {
    YK_TRY(floor, connection.number("SELECT CAST(value AS INTEGER) FROM mcs_meta WHERE key = 'log_floor'"));
    return static_cast<std::uint64_t>(floor);
}

} // namespace yk::rs
