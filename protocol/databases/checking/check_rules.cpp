// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/checking/check_rules.h"

#include <array>

#include "libcore/mcs/kinds.h"
#include "protocol/databases/mcs_schema.h"
#include "protocol/databases/sqlite_schema.h"

namespace yk::mcs {
namespace {

// Children with an empty owner_uid were released on purpose, and wait for a Deployment that adopts them.
#define YK_HAS_DEPLOYMENT "EXISTS(SELECT 1 FROM deployment d WHERE d.id = owner_id AND d.uid = owner_uid)"
#define YK_ORPHANED "owner_uid <> '' AND NOT " YK_HAS_DEPLOYMENT
// In which transaction a child goes, as the Deployment says it now.
#define YK_PARENT "(SELECT CASE WHEN d.cascade = 1 THEN d.id END FROM deployment d WHERE d.id = owner_id)"
#define YK_NOT_ITS_PARENT YK_HAS_DEPLOYMENT " AND coalesce(cascade_parent, '') <> coalesce(" YK_PARENT ", '')"
#define YK_COUNT "(SELECT count(*) FROM placement p WHERE p.schedule_id = deployment_schedule.id AND p.state "
#define YK_PLACED YK_COUNT "= 'Placed')"
#define YK_PENDING YK_COUNT "IN ('Pending', 'Rejected'))"
#define YK_HOMELESS "NOT EXISTS(SELECT 1 FROM deployment_schedule s WHERE s.id = schedule_id)"
#define YK_LEASES                                                                                                      \
    "(SELECT 'autoscaler' AS name UNION ALL SELECT 'scheduler' UNION ALL SELECT 'relay' UNION ALL SELECT 'purge'"      \
    " UNION ALL SELECT 'schema') AS wanted WHERE NOT EXISTS(SELECT 1 FROM lease l WHERE l.name = wanted.name)"

// No lease is taken so often. From there on an epoch cannot be raised for long, and one that SQLite could not raise has
// become a number with a fraction, which no holder finds again.
#define YK_MOST_EPOCH "4611686018427387904"
#define YK_NO_EPOCH                                                                                                    \
    "epoch < 0 OR epoch > " YK_MOST_EPOCH " OR CAST(epoch AS TEXT) <> CAST(CAST(epoch AS BIGINT) AS TEXT)"
// Above what the rows were written with, so that their writers have led before.
#define YK_NEW_EPOCH                                                                                                   \
    "(SELECT coalesce(max(writer_epoch), 0) + 1 FROM (SELECT writer_epoch FROM deployment_scale UNION ALL"             \
    " SELECT writer_epoch FROM deployment_schedule) AS written WHERE writer_epoch >= 0 AND writer_epoch "              \
    "< " YK_MOST_EPOCH ")"

#define YK_HAS_META(key) "EXISTS(SELECT 1 FROM mcs_meta WHERE key = '" key "' AND value <> '')"
// As a daemon does when it starts. Another name of the change log is safe: whoever follows it reads all rows anew.
#define YK_MAKE_META(key)                                                                                              \
    "INSERT INTO mcs_meta(key, value) SELECT '" key "', " YK_RANDOM_UID                                                \
    " WHERE NOT " YK_HAS_META(key) " ON CONFLICT(key) DO UPDATE SET value = excluded.value"

const std::array<CheckRule, 11> kRules{{
    {kMissing,
     "mcs_meta",
     "SELECT 'db_uid', 'no daemon could know the database again' WHERE NOT " YK_HAS_META("db_uid"),
     YK_MAKE_META("db_uid"),
     {}},
    {kMissing,
     "mcs_meta",
     "SELECT 'log_epoch', 'who follows the change log could not know it again' WHERE NOT " YK_HAS_META("log_epoch"),
     YK_MAKE_META("log_epoch"),
     {}},
    {kMissing,
     "mcs_meta",
     "SELECT 'log_floor', 'how far the change log was purged is not known: start ykd, which makes the row, and have all"
     " rows read anew by ykctl mcs bump-epoch' WHERE NOT EXISTS(SELECT 1 FROM mcs_meta WHERE key = 'log_floor')",
     "",
     {}},
    {"orphan",
     "deployment_scale",
     "SELECT id, 'its deployment is gone' FROM deployment_scale WHERE " YK_ORPHANED,
     "DELETE FROM deployment_scale WHERE " YK_ORPHANED,
     {"deployment_scale", "deployment"}},
    {"orphan",
     "deployment_schedule",
     "SELECT id, 'its deployment is gone' FROM deployment_schedule WHERE " YK_ORPHANED,
     "DELETE FROM deployment_schedule WHERE " YK_ORPHANED,
     {"deployment_schedule", "deployment"}},
    {"orphan",
     "placement",
     "SELECT schedule_id, 'replica ' || replica || ' of no schedule' FROM placement WHERE " YK_HOMELESS,
     "DELETE FROM placement WHERE " YK_HOMELESS,
     {"placement", "deployment_schedule"}},
    {"delete mode",
     "deployment_scale",
     "SELECT id, 'it would not go with its deployment as that says' FROM deployment_scale WHERE " YK_NOT_ITS_PARENT,
     "UPDATE deployment_scale SET version = version + 1, cascade_parent = " YK_PARENT " WHERE " YK_NOT_ITS_PARENT,
     {"deployment_scale", "deployment"}},
    {"delete mode",
     "deployment_schedule",
     "SELECT id, 'it would not go with its deployment as that says' FROM deployment_schedule WHERE " YK_NOT_ITS_PARENT,
     "UPDATE deployment_schedule SET version = version + 1, cascade_parent = " YK_PARENT " WHERE " YK_NOT_ITS_PARENT,
     {"deployment_schedule", "deployment"}},
    {"miscounted",
     "deployment_schedule",
     "SELECT id, 'placed ' || placed || ' and pending ' || pending || ', but its placements are ' || " YK_PLACED
     " || ' and ' || " YK_PENDING " FROM deployment_schedule WHERE placed <> " YK_PLACED " OR pending <> " YK_PENDING,
     "UPDATE deployment_schedule SET version = version + 1, placed = " YK_PLACED ", pending = " YK_PENDING
     " WHERE placed <> " YK_PLACED " OR pending <> " YK_PENDING,
     {"deployment_schedule", "placement"}},
    {kMissing,
     "lease",
     "SELECT name, 'nobody could ever lead as it' FROM " YK_LEASES,
     "INSERT INTO lease(name, epoch) SELECT name, 0 FROM " YK_LEASES,
     {"lease"}},
    {"epoch",
     "lease",
     "SELECT name, 'it is ' || epoch || ', which is no whole number from 0 to " YK_MOST_EPOCH
     ": nobody could lead as it for long' FROM lease WHERE " YK_NO_EPOCH,
     "UPDATE lease SET holder = NULL, expires_ms = NULL, epoch = " YK_NEW_EPOCH " WHERE " YK_NO_EPOCH,
     {"lease"}},
}};

/// Finds the tables of mcs for which `condition` is true; what it asks is called `wanted.name`.
std::string lost_tables(const std::string& condition) {
    std::string names;
    for (const char* table : {"deployment", "deployment_scale", "deployment_schedule", "node", "placement",
                              "change_log", "lease", "relay_state", "dead_letter"})
        names += (names.empty() ? "SELECT '" : " UNION ALL SELECT '") + std::string{table} +
                 (names.empty() ? "' AS name" : "'");
    return "SELECT name, 'the table is gone, and no start of ykd makes it anew: put a copy of the database back, or "
           "have "
           "ykd begin with a new one' FROM (" +
           names + ") AS wanted WHERE " + condition;
}

/// Each change of a row is in the change log only by these. Those of a table that is gone went with it.
std::string lost_triggers() {
    std::string names;
    for (const auto& [kind, table] : kind_tables())
        for (const char* end : {"_ci", "_cu", "_cd", "_vg"})
            names += (names.empty() ? "SELECT '" : " UNION ALL SELECT '") + std::string{table} + end +
                     (names.empty() ? "' AS name, '" : "', '") + table + (names.empty() ? "' AS of_table" : "'");
    return "SELECT name, 'the trigger is gone: changes are not in the change log' FROM (" + names +
           ") AS wanted WHERE NOT EXISTS(SELECT 1 FROM sqlite_master m WHERE m.type = 'trigger' AND m.name = "
           "wanted.name) AND EXISTS(SELECT 1 FROM sqlite_master m WHERE m.type = 'table' AND m.name = wanted.of_table)";
}

/// Those that are there stay as they are.
std::string all_triggers() {
    std::string sql;
    for (const auto& [kind, table] : kind_tables()) sql += rs::kind_triggers(kind, table);
    return sql;
}

} // namespace

std::span<const CheckRule> common_rules() {
    return kRules;
}

std::span<const CheckRule> sqlite_rules() {
    static const std::array<CheckRule, 3> kOfSqlite{{
        {kDamaged, "", "SELECT '', integrity_check FROM pragma_integrity_check(100) WHERE integrity_check <> 'ok'", ""},
        {kMissing, kTable,
         lost_tables("NOT EXISTS(SELECT 1 FROM sqlite_master m WHERE m.type = 'table' AND m.name = wanted.name)"), ""},
        {kMissing, "trigger", lost_triggers(), all_triggers()},
    }};
    return kOfSqlite;
}

std::span<const CheckRule> postgres_rules() {
    static const std::array<CheckRule, 1> kOfPostgres{
        {{kMissing, kTable, lost_tables("to_regclass(wanted.name) IS NULL"), ""}}};
    return kOfPostgres;
}

} // namespace yk::mcs
