// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/mcs_schema.h"

#include <array>
#include <cstddef>
#include <utility>

#include "libcore/base/number.h"
#include "libcore/base/text.h"
#include "libcore/mcs/kinds.h"
#include "protocol/databases/mcs_statements.h"
#include "protocol/databases/sqlite_schema.h"

namespace yk::mcs {
namespace {

using rs::StoreError;
using rs::StoreFault;

constexpr const char* kMeta = "CREATE TABLE IF NOT EXISTS mcs_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL)";

/// An id is at most 200 bytes long, so that application ids and allocation keys, which are made of it, stay below 256.
constexpr const char* kUserTables = R"(
    CREATE TABLE deployment(
        id TEXT PRIMARY KEY CHECK(length(CAST(id AS BLOB)) BETWEEN 1 AND 200),
        uid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL CHECK(version >= 1),
        generation INTEGER NOT NULL, name TEXT NOT NULL UNIQUE,
        partition TEXT NOT NULL DEFAULT 'default', queue TEXT NOT NULL,
        usr TEXT NOT NULL, grps TEXT NOT NULL DEFAULT '[]', resource TEXT NOT NULL,
        min_replicas INTEGER NOT NULL CHECK(min_replicas >= 0),
        max_replicas INTEGER NOT NULL CHECK(max_replicas >= min_replicas),
        replicas INTEGER, priority INTEGER NOT NULL DEFAULT 0, policy TEXT NOT NULL DEFAULT '{}',
        tags TEXT NOT NULL DEFAULT '{}', paused INTEGER NOT NULL DEFAULT 0, cascade INTEGER NOT NULL DEFAULT 1,
        created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE node(
        id TEXT PRIMARY KEY, uid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, attributes TEXT NOT NULL,
        capacity TEXT NOT NULL, occupied TEXT NOT NULL, schedulable INTEGER NOT NULL,
        created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL) WITHOUT ROWID;
)";

/// A column with a foreign key has an index: without it each deletion of a parent reads all children (rs R-136).
constexpr const char* kServiceTables = R"(
    CREATE TABLE deployment_scale(
        id TEXT PRIMARY KEY, uid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL,
        owner_kind INTEGER NOT NULL, owner_id TEXT NOT NULL, owner_uid TEXT NOT NULL,
        cascade_parent TEXT REFERENCES deployment(id) ON DELETE CASCADE,
        desired INTEGER NOT NULL CHECK(desired >= 0), reason TEXT NOT NULL,
        observed_generation INTEGER NOT NULL, status TEXT NOT NULL DEFAULT '{}',
        writer_epoch INTEGER NOT NULL, created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX deployment_scale_cp ON deployment_scale(cascade_parent);
    CREATE TABLE deployment_schedule(
        id TEXT PRIMARY KEY, uid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL,
        owner_kind INTEGER NOT NULL, owner_id TEXT NOT NULL, owner_uid TEXT NOT NULL,
        cascade_parent TEXT REFERENCES deployment(id) ON DELETE CASCADE,
        application_id TEXT NOT NULL, observed_scale_version INTEGER NOT NULL, desired INTEGER NOT NULL,
        placed INTEGER NOT NULL, pending INTEGER NOT NULL, state TEXT NOT NULL, status TEXT NOT NULL DEFAULT '{}',
        writer_epoch INTEGER NOT NULL, created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX deployment_schedule_cp ON deployment_schedule(cascade_parent);
    CREATE TABLE placement(
        schedule_id TEXT NOT NULL REFERENCES deployment_schedule(id) ON DELETE CASCADE,
        replica INTEGER NOT NULL, attempt INTEGER NOT NULL, allocation_key TEXT NOT NULL,
        node_id TEXT, state TEXT NOT NULL, placed_ms INTEGER, PRIMARY KEY(schedule_id, replica)) WITHOUT ROWID;
)";

constexpr const char* kLog = R"(
    CREATE TABLE change_log(
        seq INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, op INTEGER NOT NULL,
        id TEXT NOT NULL, uid TEXT, version INTEGER, at_ms INTEGER NOT NULL);
)";
constexpr const char* kOtherTables = R"(
    CREATE TABLE lease(name TEXT PRIMARY KEY, holder TEXT, epoch INTEGER NOT NULL, expires_ms INTEGER);
    INSERT INTO lease(name, epoch) VALUES('autoscaler', 0), ('scheduler', 0), ('relay', 0), ('purge', 0), ('schema', 0);
    CREATE TABLE relay_state(topic TEXT, part INTEGER, cursor TEXT, log_epoch TEXT, PRIMARY KEY(topic, part));
    CREATE TABLE dead_letter(kind INTEGER, id TEXT, handler TEXT, attempts INTEGER, error TEXT,
        first_ms INTEGER, last_ms INTEGER, PRIMARY KEY(kind, id, handler));
)";

std::string first_step() {
    std::string step = first_tables() + kLog;
    for (const auto& [kind, table] : kind_tables()) step += rs::kind_triggers(kind, table);
    return step;
}

Result<void, StoreError> set_meta(rs::SqlConnection& connection, std::string_view key, std::string_view value,
                                  bool keeps_old) {
    const std::string otherwise = keeps_old ? "NOTHING" : "UPDATE SET value = excluded.value";
    rs::SqlStatement set =
        connection.statement("INSERT INTO mcs_meta(key, value) VALUES(?, ?) ON CONFLICT(key) DO " + otherwise);
    YK_TRY(has_row, set.bind(1, key).bind(2, value).step());
    static_cast<void>(has_row);
    return {};
}

} // namespace

std::string first_tables() {
    return std::string{kUserTables} + kServiceTables + kOtherTables;
}

std::span<const std::pair<rs::Kind, const char*>> kind_tables() {
    static constexpr std::array<std::pair<rs::Kind, const char*>, 4> kTables{{{kDeploymentKind, "deployment"},
                                                                              {kScaleKind, "deployment_scale"},
                                                                              {kScheduleKind, "deployment_schedule"},
                                                                              {kNodeKind, "node"}}};
    return kTables;
}

std::span<const std::string> schema_steps() {
    static const std::array<std::string, 1> kSteps{first_step()};
    return kSteps;
}

Result<std::optional<std::int64_t>, StoreError> read_schema_version(rs::SqlConnection& connection) {
    YK_TRY(written, connection.text("SELECT value FROM mcs_meta WHERE key = 'schema_version'"));
    if (written.empty()) return std::optional<std::int64_t>{};
    const auto version = to_number<std::int64_t>(written);
    if (version && *version > 0) return version;
    return StoreError{StoreFault::Fatal, "schema_version in mcs_meta is '" + printable(shortened(written, 40)) +
                                             "', which no schema is: put a copy of the database back, or, if you know "
                                             "which ykd wrote it last, set it to that one's"};
}

/// The transaction keeps others out from its beginning, so two programs that start at once migrate one after the other.
Result<void, StoreError> migrate(rs::SqlConnection& connection, std::string_view identity,
                                 std::span<const std::string> steps) {
    rs::SqlTransaction transaction{connection, rs::SqlTransaction::Kind::Write};
    YK_CHECKED(transaction.begun());
    YK_TRY(locked, has_row(connection, "SELECT 1 /*pg FROM pg_advisory_xact_lock(" YK_SCHEMA_LOCK ") */"));
    static_cast<void>(locked);
    YK_CHECKED(connection.run(kMeta));
    YK_TRY(known, read_schema_version(connection));
    const std::int64_t version = known.value_or(0);
    const auto newest = static_cast<std::int64_t>(steps.size());
    if (version > newest)
        return StoreError{StoreFault::Fatal, "the database has schema " + std::to_string(version) +
                                                 ", and this program knows " + std::to_string(newest) +
                                                 "; use the program that wrote it"};
    for (std::int64_t done = version; done < newest; ++done)
        YK_CHECKED(connection.run(steps[static_cast<std::size_t>(done)]));
    YK_CHECKED(set_meta(connection, "schema_version", std::to_string(newest), /*keeps_old=*/false));
    YK_CHECKED(set_meta(connection, "db_uid", identity, /*keeps_old=*/true));
    YK_CHECKED(set_meta(connection, "log_epoch", identity, /*keeps_old=*/true));
    YK_CHECKED(set_meta(connection, "log_floor", "0", /*keeps_old=*/true));
    return transaction.commit();
}

Result<DatabaseIdentity, StoreError> read_identity(rs::SqlConnection& connection) {
    rs::SqlTransaction transaction{connection, rs::SqlTransaction::Kind::Read};
    YK_CHECKED(transaction.begun());
    YK_TRY(uid, connection.text("SELECT value FROM mcs_meta WHERE key = 'db_uid'"));
    YK_TRY(epoch, connection.text("SELECT value FROM mcs_meta WHERE key = 'log_epoch'"));
    return DatabaseIdentity{std::move(uid), std::move(epoch)};
}

Result<void, StoreError> set_log_epoch(rs::SqlConnection& connection, std::string_view epoch) {
    rs::SqlTransaction transaction{connection, rs::SqlTransaction::Kind::Write};
    YK_CHECKED(transaction.begun());
    YK_CHECKED(set_meta(connection, "log_epoch", epoch, /*keeps_old=*/false));
    return transaction.commit();
}

Result<std::unique_ptr<rs::SqliteConnection>, StoreError>
reconnect(const std::string& path, const DatabaseIdentity& first, const rs::SqliteSettings& settings) {
    YK_TRY(connection, rs::SqliteConnection::open(path, settings));
    YK_TRY(found, read_identity(*connection));
    if (found.uid != first.uid)
        return StoreError{StoreFault::Fatal,
                          path + ": wrong database: it is " + found.uid + ", and " + first.uid + " was here before"};
    return connection;
}

} // namespace yk::mcs
