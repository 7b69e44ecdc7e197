// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/postgres/postgres_schema.h"

#include <array>

#include "protocol/databases/postgres/postgres_words.h"

namespace yk::mcs {
namespace {

/// Sequence numbers are handed out before the commit, so they do not stand in the order of commits: the log is ordered
/// by transaction first. Somebody with a shell has a row's version set for them, and is refused another id or uid. A
/// statement that removes all rows at once fires no trigger of a row, and is one event for the whole kind (rs R-009).
/// Whoever waits for commits is woken once for each transaction, unless the session of the writer says otherwise.
constexpr const char* kLog = R"(
    CREATE TABLE change_log(
        xid XID8 NOT NULL DEFAULT pg_current_xact_id(), seq BIGINT GENERATED ALWAYS AS IDENTITY,
        kind BIGINT NOT NULL, op BIGINT NOT NULL, id TEXT COLLATE "C" NOT NULL, uid TEXT COLLATE "C", version BIGINT,
        at_ms BIGINT NOT NULL, PRIMARY KEY(xid, seq));
    CREATE FUNCTION mcs_log() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        r record;
        t bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            INSERT INTO change_log(kind, op, id, at_ms) VALUES(TG_ARGV[0]::bigint, 9, '*', t);
            RETURN NULL;
        END IF;
        IF TG_OP = 'DELETE' THEN r := OLD; ELSE r := NEW; END IF;
        INSERT INTO change_log(kind, op, id, uid, version, at_ms) VALUES(TG_ARGV[0]::bigint,
            CASE TG_OP WHEN 'INSERT' THEN 1 WHEN 'UPDATE' THEN 2 ELSE 3 END, r.id, r.uid, r.version, t);
        RETURN NULL;
    END $$;
    CREATE FUNCTION mcs_guard() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.id <> OLD.id OR NEW.uid <> OLD.uid THEN
            RAISE EXCEPTION '%: id and uid are fixed', TG_TABLE_NAME USING ERRCODE = 'check_violation';
        END IF;
        NEW.version := OLD.version + 1;
        RETURN NEW;
    END $$;
    CREATE FUNCTION mcs_notify() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF current_setting('mcs.notify', true) IS DISTINCT FROM 'off' THEN
            PERFORM pg_notify('mcs_change', '');
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER change_log_notify AFTER INSERT ON change_log FOR EACH STATEMENT EXECUTE FUNCTION mcs_notify();
)";

std::string triggers_of(rs::Kind kind, const std::string& table) {
    const std::string number = std::to_string(static_cast<std::uint32_t>(kind));
    return "CREATE TRIGGER " + table + "_log AFTER INSERT OR UPDATE OR DELETE ON " + table +
           " FOR EACH ROW EXECUTE FUNCTION mcs_log(" + number + "); CREATE TRIGGER " + table +
           "_tr AFTER TRUNCATE ON " + table + " EXECUTE FUNCTION mcs_log(" + number + "); CREATE TRIGGER " + table +
           "_vg BEFORE UPDATE ON " + table + " FOR EACH ROW EXECUTE FUNCTION mcs_guard();";
}

std::string first_step() {
    std::string step = rs::tables_in_postgres(first_tables()) + kLog;
    for (const auto& [kind, table] : kind_tables()) step += triggers_of(kind, table);
    return step;
}

} // namespace

std::span<const std::string> postgres_steps() {
    static const std::array<std::string, 1> kSteps{first_step()};
    return kSteps;
}

namespace {

/// What no transaction of this server can have written came with a copy of the tables of another one (pg_dump): rows of
/// its log, and how far that was purged. How many rows went, at most `most`.
Result<std::int64_t, rs::StoreError> purge_copied(rs::PostgresConnection& connection, std::int64_t most) {
    rs::SqlStatement rows = connection.statement(
        "DELETE FROM change_log WHERE (xid, seq) IN (SELECT xid, seq FROM change_log"
        " WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) ORDER BY xid DESC, seq DESC LIMIT ?)");
    YK_TRY(has_row, rows.bind(1, most).step());
    static_cast<void>(has_row);
    const std::int64_t count = connection.changes();
    YK_CHECKED(
        connection.run("UPDATE mcs_meta SET value = '0.0' WHERE key = 'log_floor'"
                       " AND CAST(split_part(value, '.', 1) AS xid8) >= pg_snapshot_xmax(pg_current_snapshot())"));
    return count;
}

} // namespace

Result<std::int64_t, rs::StoreError> purge_log(rs::PostgresConnection& connection, const rs::Position& up_to,
                                               std::int64_t most) {
    rs::SqlTransaction transaction{connection, rs::SqlAccess::Write};
    YK_CHECKED(transaction.begun());
    YK_TRY(copied, purge_copied(connection, most));
    rs::SqlStatement purge = connection.statement(
        "WITH gone AS (SELECT xid, seq FROM change_log WHERE (xid, seq) <= (CAST(?1 AS xid8), ?2)"
        " AND xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, seq LIMIT ?3),"
        " removed AS (DELETE FROM change_log l USING gone g WHERE l.xid = g.xid AND l.seq = g.seq)"
        " SELECT xid || '.' || seq, count(*) OVER () FROM gone ORDER BY xid DESC, seq DESC LIMIT 1");
    const std::string transaction_id = std::to_string(up_to.transaction);
    purge.bind(1, std::string_view{transaction_id}).bind(2, static_cast<std::int64_t>(up_to.sequence)).bind(3, most);
    YK_TRY(has_row, purge.step());
    if (!has_row) {
        YK_CHECKED(transaction.commit());
        return copied;
    }
    const std::string floor = purge.text(0);
    const std::int64_t count = purge.number(1);
    rs::SqlStatement note = connection.statement("UPDATE mcs_meta SET value = ? WHERE key = 'log_floor'");
    YK_TRY(noted, note.bind(1, std::string_view{floor}).step());
    static_cast<void>(noted);
    YK_CHECKED(transaction.commit());
    return copied + count;
}

} // namespace yk::mcs
