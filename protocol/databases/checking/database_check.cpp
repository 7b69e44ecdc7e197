// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/checking/database_check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "protocol/databases/checking/row_texts.h"
#include "protocol/databases/mcs_schema.h"
#include "protocol/databases/mcs_store.h"

namespace yk::mcs {
namespace {

using rs::SqlConnection;
using rs::StoreError;

constexpr std::size_t kShown = 100; // findings of a sort
constexpr std::size_t kPage = 1000; // rows

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

bool looks_for_tables(const CheckRule& rule) {
    return rule.what == kMissing && rule.table == kTable;
}

bool is_lost_table(const DatabaseFault& finding) {
    return finding.what == kMissing && finding.table == kTable;
}

bool has_tables(const CheckReport& report, std::span<const std::string_view> tables) {
    return std::none_of(report.findings.begin(), report.findings.end(), [&](const DatabaseFault& each) {
        return is_lost_table(each) && std::find(tables.begin(), tables.end(), each.id) != tables.end();
    });
}

Result<void, StoreError> look_for_tables(SqlConnection& connection, std::span<const CheckRule> more,
                                         CheckReport& report) {
    for (const CheckRule& rule : more)
        if (looks_for_tables(rule)) YK_CHECKED(look_for(connection, rule, report));
    return {};
}

/// What keeps a row from being used; nothing: it can be.
template <rs::Resource T>
std::optional<DatabaseFault> fault_of(const std::string& table, const rs::Found<T>& found) {
    if (const auto* broken = std::get_if<rs::BrokenRow>(&found))
        return DatabaseFault{"unreadable", table, broken->id, broken->message, false};
    const auto* const row = std::get_if<rs::Ptr<T>>(&found);
    if (row == nullptr) return std::nullopt;
    const std::string_view column = column_not_utf8(**row);
    if (column.empty()) return std::nullopt;
    return DatabaseFault{
        "unreadable", table, (*row)->meta.id,
        std::string{column} + ": it is not UTF-8; write another one, or delete the row, while no daemon runs", false};
}

/// `rows_in`: the tables that its rows are in, of which the first one has its name.
template <rs::Resource T>
Result<void, StoreError> read_all(SqlConnection& connection, const std::vector<std::string_view>& rows_in,
                                  CheckReport& report) {
    if (!has_tables(report, rows_in)) return {};
    const std::string table{rows_in.front()};
    const std::size_t before = report.findings.size();
    McsStore<T> store{connection};
    TableSize size{table, 0};
    for (std::string after;;) {
        YK_TRY(page, store.read_page(after, kPage));
        for (const rs::Found<T>& found : page.found)
            if (auto finding = fault_of(table, found)) add(report, before, *std::move(finding));
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
    for (const std::string_view table : {"placement", "change_log", "dead_letter"}) {
        if (!has_tables(report, {&table, 1})) continue;
        YK_TRY(rows, connection.number("SELECT count(*) FROM " + std::string{table}));
        report.tables.push_back({std::string{table}, rows});
    }
    constexpr std::string_view kLease = "lease";
    if (has_tables(report, {&kLease, 1})) YK_CHECKED(read_leases(connection, report));
    for (const std::span<const CheckRule> rules : {common_rules(), more})
        for (const CheckRule& rule : rules)
            if (!looks_for_tables(rule) && has_tables(report, rule.needs))
                YK_CHECKED(look_for(connection, rule, report));
    YK_TRY(head, connection.log_head(rs::SqlAccess::Read));
    report.position = head.text();
    return {};
}

Result<void, StoreError> check_all(SqlConnection& connection, std::span<const CheckRule> more, CheckReport& report) {
    YK_TRY(identity, read_identity(connection));
    report.uid = identity.uid;
    YK_CHECKED(look_for_tables(connection, more, report));
    YK_CHECKED(read_all<Deployment>(connection, {"deployment"}, report));
    YK_CHECKED(read_all<DeploymentScale>(connection, {"deployment_scale"}, report));
    YK_CHECKED(read_all<DeploymentSchedule>(connection, {"deployment_schedule", "placement"}, report));
    YK_CHECKED(read_all<Node>(connection, {"node"}, report));
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

Result<void, StoreError> has_our_schema(SqlConnection& connection) {
    const auto version = read_schema_version(connection);
    if (!version.ok() && version.error().damage == rs::Damage::Pages) return version.error();
    if (!version.ok()) return StoreError{version.error().fault, "it is no database of ykd: " + version.error().message};
    const auto ours = static_cast<std::int64_t>(schema_steps().size());
    if (*version == ours) return {};
    if (!*version)
        return StoreError{
            rs::StoreFault::Fatal,
            "the row schema_version is missing in mcs_meta, so that no ykd takes the database; put a copy "
            "back, or, if a ykd of this version wrote it last, add the row: INSERT INTO mcs_meta(key, "
            "value) VALUES('schema_version', '" +
                std::to_string(ours) + "')"};
    return StoreError{rs::StoreFault::Fatal, "it has schema " + std::to_string(**version) +
                                                 ", and this program knows " + std::to_string(ours) +
                                                 "; use the ykctl of the ykd that wrote it"};
}

std::size_t CheckReport::mendable() const {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(), [](const DatabaseFault& each) { return each.can_be_mended; }));
}

Result<CheckReport, StoreError> check_database(SqlConnection& connection, std::span<const CheckRule> more) {
    CheckReport report;
    auto done = has_our_schema(connection);
    if (done.ok()) done = check_all(connection, more, report);
    if (!done.ok() && done.error().damage != rs::Damage::Pages) return done.error();
    if (!done.ok()) add_damage(connection, done.error(), more, report);
    if (std::any_of(report.findings.begin(), report.findings.end(), is_lost_table))
        for (DatabaseFault& each : report.findings) each.can_be_mended = false;
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
        if (looks_for_tables(rule))
            return StoreError{rs::StoreFault::Fatal, "nothing is mended while the table " + report.findings.front().id +
                                                         " is gone; put a copy of the database back"};
        if (rule.mend.empty()) continue;
        YK_CHECKED(connection.run(rule.mend));
        count += static_cast<std::int64_t>(report.findings.size() + report.left_out);
    }
    for (const CheckRule& rule : common_rules()) {
        if (rule.mend.empty()) continue;
        rs::SqlStatement mend = connection.statement(rule.mend);
        YK_TRY(has_row, mend.step());
        static_cast<void>(has_row);
        count += connection.changes();
    }
    YK_CHECKED(transaction.commit());
    return count;
}

} // namespace yk::mcs
