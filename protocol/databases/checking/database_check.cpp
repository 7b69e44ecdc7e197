// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/checking/database_check.h"

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/mcs/kinds.h"
#include "protocol/databases/mcs_schema.h"
#include "protocol/databases/mcs_store.h"
#include "protocol/databases/sqlite_schema.h"

namespace yk::mcs {
namespace {

using rs::SqlConnection;
using rs::StoreError;

constexpr std::string_view kDamaged = "damaged";
constexpr std::size_t kShown = 100; // findings of a sort
constexpr std::size_t kPage = 1000; // rows

// --- what is looked for ----------------------------------------------------------------------------------------------

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

const std::array<CheckRule, 7> kRules{{
    {"orphan", "deployment_scale", "SELECT id, 'its deployment is gone' FROM deployment_scale WHERE " YK_ORPHANED,
     "DELETE FROM deployment_scale WHERE " YK_ORPHANED},
    {"orphan", "deployment_schedule", "SELECT id, 'its deployment is gone' FROM deployment_schedule WHERE " YK_ORPHANED,
     "DELETE FROM deployment_schedule WHERE " YK_ORPHANED},
    {"orphan", "placement",
     "SELECT schedule_id, 'replica ' || replica || ' of no schedule' FROM placement WHERE " YK_HOMELESS,
     "DELETE FROM placement WHERE " YK_HOMELESS},
    {"delete mode", "deployment_scale",
     "SELECT id, 'it would not go with its deployment as that says' FROM deployment_scale WHERE " YK_NOT_ITS_PARENT,
     "UPDATE deployment_scale SET version = version + 1, cascade_parent = " YK_PARENT " WHERE " YK_NOT_ITS_PARENT},
    {"delete mode", "deployment_schedule",
     "SELECT id, 'it would not go with its deployment as that says' FROM deployment_schedule WHERE " YK_NOT_ITS_PARENT,
     "UPDATE deployment_schedule SET version = version + 1, cascade_parent = " YK_PARENT " WHERE " YK_NOT_ITS_PARENT},
    {"miscounted", "deployment_schedule",
     "SELECT id, 'placed ' || placed || ' and pending ' || pending || ', but its placements are ' || " YK_PLACED
     " || ' and ' || " YK_PENDING " FROM deployment_schedule WHERE placed <> " YK_PLACED " OR pending <> " YK_PENDING,
     "UPDATE deployment_schedule SET version = version + 1, placed = " YK_PLACED ", pending = " YK_PENDING
     " WHERE placed <> " YK_PLACED " OR pending <> " YK_PENDING},
    {"missing", "lease", "SELECT name, 'nobody could ever lead as it' FROM " YK_LEASES,
     "INSERT INTO lease(name, epoch) SELECT name, 0 FROM " YK_LEASES},
}};

/// Each change of a row is in the change log only by these.
std::string lost_triggers() {
    std::string names;
    for (const auto& [kind, table] : kind_tables())
        for (const char* end : {"_ci", "_cu", "_cd", "_vg"})
            names += std::string{names.empty() ? "SELECT '" : " UNION ALL SELECT '"} + table + end +
                     (names.empty() ? "' AS name" : "'");
    return "SELECT name, 'the trigger is gone: changes are not in the change log' FROM (" + names +
           ") AS wanted WHERE NOT EXISTS(SELECT 1 FROM sqlite_master m WHERE m.type = 'trigger' AND m.name = "
           "wanted.name)";
}

/// Those that are there stay as they are.
std::string all_triggers() {
    std::string sql;
    for (const auto& [kind, table] : kind_tables()) sql += rs::kind_triggers(kind, table);
    return sql;
}

// --- looking ---------------------------------------------------------------------------------------------------------

void add(CheckReport& report, std::size_t before, DatabaseFault finding) {
    if (report.findings.size() - before < kShown)
        report.findings.push_back(std::move(finding));
    else
        ++report.left_out;
}

Result<void, StoreError> look_for(SqlConnection& connection, const CheckRule& rule, CheckReport& report) {
    const std::size_t before = report.findings.size();
    rs::SqlStatement find = connection.statement(rule.find);
    for (;;) {
        YK_TRY(has_row, find.step());
        if (!has_row) return {};
        add(report, before, {rule.what, std::string{rule.table}, find.text(0), find.text(1), !rule.mend.empty()});
    }
}

template <rs::Resource T>
Result<void, StoreError> read_all(SqlConnection& connection, const char* table, CheckReport& report) {
    const std::size_t before = report.findings.size();
    McsStore<T> store{connection};
    TableSize size{table, 0};
    for (std::string after;;) {
        YK_TRY(page, store.read_page(after, kPage));
        for (const rs::Found<T>& found : page.found)
            if (const auto* broken = std::get_if<rs::BrokenRow>(&found))
                add(report, before, {"unreadable", table, broken->id, broken->message, false});
        size.rows += static_cast<std::int64_t>(page.found.size());
        if (page.is_last) break;
        after = page.last_id;
    }
    report.tables.push_back(std::move(size));
    return {};
}

Result<void, StoreError> read_leases(SqlConnection& connection, CheckReport& report) {
    rs::SqlStatement select = connection.statement(
        "SELECT name, coalesce(holder, ''), epoch, coalesce(expires_ms - " YK_NOW_MS ", 0) FROM lease ORDER BY name");
    for (;;) {
        YK_TRY(has_row, select.step());
        if (!has_row) return {};
        report.leases.push_back(
            {select.text(0), select.text(1), static_cast<std::uint64_t>(select.number(2)), select.number(3)});
    }
}

Result<void, StoreError> read_rest(SqlConnection& connection, std::span<const CheckRule> more, CheckReport& report) {
    rs::SqlTransaction transaction{connection, rs::SqlAccess::Read};
    YK_CHECKED(transaction.begun());
    for (const char* table : {"placement", "change_log", "dead_letter"}) {
        YK_TRY(rows, connection.number(std::string{"SELECT count(*) FROM "} + table));
        report.tables.push_back({table, rows});
    }
    YK_CHECKED(read_leases(connection, report));
    for (const CheckRule& rule : kRules) YK_CHECKED(look_for(connection, rule, report));
    for (const CheckRule& rule : more) YK_CHECKED(look_for(connection, rule, report));
    YK_TRY(head, connection.log_head(rs::SqlAccess::Read));
    report.position = head.text();
    return {};
}

Result<void, StoreError> check_all(SqlConnection& connection, std::span<const CheckRule> more, CheckReport& report) {
    YK_TRY(identity, read_identity(connection));
    report.uid = identity.uid;
    YK_CHECKED(read_all<Deployment>(connection, "deployment", report));
    YK_CHECKED(read_all<DeploymentScale>(connection, "deployment_scale", report));
    YK_CHECKED(read_all<DeploymentSchedule>(connection, "deployment_schedule", report));
    YK_CHECKED(read_all<Node>(connection, "node", report));
    return read_rest(connection, more, report);
}

/// What a read says of damage names no page; what a look at all pages says may fail, too.
void add_damage(SqlConnection& connection, const StoreError& met, std::span<const CheckRule> more,
                CheckReport& report) {
    const auto is_damage = [](const DatabaseFault& each) { return each.what == kDamaged; };
    std::erase_if(report.findings, is_damage); // of a look at the pages that came to no end
    report.findings.push_back({kDamaged, "", "", "a read says: " + met.message, false});
    for (const CheckRule& rule : more) {
        if (rule.what != kDamaged) continue;
        const auto looked = look_for(connection, rule, report);
        if (!looked.ok())
            report.findings.push_back(
                {kDamaged, "", "", "its pages cannot all be looked at: " + looked.error().message, false});
    }
}

} // namespace

std::span<const CheckRule> sqlite_rules() {
    static const std::array<CheckRule, 2> kOfSqlite{{
        {kDamaged, "", "SELECT '', integrity_check FROM pragma_integrity_check(100) WHERE integrity_check <> 'ok'", ""},
        {"missing", "trigger", lost_triggers(), all_triggers()},
    }};
    return kOfSqlite;
}

Result<void, StoreError> has_our_schema(SqlConnection& connection) {
    const auto version = connection.number("SELECT CAST(value AS INTEGER) FROM mcs_meta WHERE key = 'schema_version'");
    if (!version.ok() && version.error().damage == rs::Damage::Pages) return version.error();
    if (!version.ok()) return StoreError{version.error().fault, "it is no database of ykd: " + version.error().message};
    const auto ours = static_cast<std::int64_t>(schema_steps().size());
    if (*version == ours) return {};
    return StoreError{rs::StoreFault::Fatal, "it has schema " + std::to_string(*version) + ", and this program knows " +
                                                 std::to_string(ours) + "; use the ykctl of the ykd that wrote it"};
}

std::size_t CheckReport::mendable() const {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(), [](const DatabaseFault& each) { return each.can_be_mended; }));
}

Result<CheckReport, StoreError> check_database(SqlConnection& connection, std::span<const CheckRule> more) {
    CheckReport report;
    auto done = has_our_schema(connection);
    if (done.ok()) done = check_all(connection, more, report);
    if (done.ok()) return report;
    if (done.error().damage != rs::Damage::Pages) return done.error();
    add_damage(connection, done.error(), more, report);
    return report;
}

/// Triggers come first, so that what is mended then is in the change log.
Result<std::int64_t, StoreError> mend_database(SqlConnection& connection, std::span<const CheckRule> more) {
    rs::SqlTransaction transaction{connection, rs::SqlAccess::Write};
    YK_CHECKED(transaction.begun());
    std::int64_t count = 0;
    for (const CheckRule& rule : more) {
        CheckReport report;
        const auto looked = look_for(connection, rule, report);
        const bool is_damaged = rule.what == kDamaged && !looked.ok() && looked.error().damage == rs::Damage::Pages;
        if (!looked.ok() && !is_damaged) return looked.error();
        if (report.findings.empty() && !is_damaged) continue;
        if (rule.what == kDamaged)
            return StoreError{rs::StoreFault::Fatal,
                              "nothing is mended while pages are damaged, since a damaged index hides rows that are "
                              "there; restore a backup, or let .recover of sqlite3 make a new file"};
        if (rule.mend.empty()) continue;
        YK_CHECKED(connection.run(rule.mend));
        count += static_cast<std::int64_t>(report.findings.size() + report.left_out);
    }
    for (const CheckRule& rule : kRules) {
        rs::SqlStatement mend = connection.statement(rule.mend);
        YK_TRY(has_row, mend.step());
        static_cast<void>(has_row);
        count += connection.changes();
    }
    YK_CHECKED(transaction.commit());
    return count;
}

} // namespace yk::mcs
