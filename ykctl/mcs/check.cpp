// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/check.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "protocol/databases/checking/database_check.h"
#include "protocol/databases/database_lock.h"
#include "protocol/databases/sqlite_connection.h"
#include "ykctl/output/item_text.h"
#include "ykctl/render/text.h"
#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_connection.h"
#endif

namespace yk::cli {
namespace {

using mcs::CheckReport;
using wire::Value;

/// The database, with what keeps daemons out of it.
struct Opened {
    std::optional<rs::DatabaseLock> lock;
    std::unique_ptr<rs::SqlConnection> connection;
    std::string shown; // for people: without a password
    bool is_sqlite = true;

    [[nodiscard]] std::span<const mcs::CheckRule> rules() const {
        return is_sqlite ? mcs::sqlite_rules() : mcs::postgres_rules();
    }
};

Failure failed(const std::string& place, const std::string& why, std::vector<std::string> hints = {}) {
    return {Exit::Refused, printable(place) + ": " + printable(why), std::move(hints), 0, {}, {}};
}

/// The name of the file in what the settings call `sqlite:PATH`.
std::string path_of(const std::string& database) {
    constexpr std::string_view kScheme = "sqlite:";
    return database.starts_with(kScheme) ? database.substr(kScheme.size()) : database;
}

constexpr const char* kKnown = "what is known?  sqlite:PATH, PATH or postgresql://HOST/DATABASE";

/// Why there cannot be a database at `path`; nothing: it is a file.
std::optional<Failure> why_no_file(const std::string& path) {
    const std::vector<std::string> hints{
        "where is it?  mcs.db.url of the settings, below the state directory; ykctl mcs status"};
    if (path.empty()) return usage_error("--db: the path of the file is missing", {kKnown});
    std::error_code error;
    const auto type = std::filesystem::status(path, error).type();
    if (type == std::filesystem::file_type::regular) return std::nullopt;
    if (type == std::filesystem::file_type::directory)
        return not_found(printable(path) + ": it is a directory, and a database is a file", hints);
    if (type == std::filesystem::file_type::none) return failed(path, error.message());
    if (type != std::filesystem::file_type::not_found)
        return not_found(printable(path) + ": it is not a regular file", hints);
    const std::size_t colon = path.find(':');
    if (colon != 0 && colon < path.find('/'))
        return usage_error(
            printable(path) + ": there is no such file, and no scheme " + printable(path.substr(0, colon)), {kKnown});
    return not_found(printable(path) + ": there is no such file", hints);
}

/// A file that is not there is not made, and one of another program stays as it is.
Answer<Opened> open_sqlite(const std::string& path) {
    if (auto why = why_no_file(path)) return *std::move(why);
    {
        auto file = rs::SqliteConnection::look_at(path);
        if (!file.ok()) return failed(path, file.error().message);
        const auto ours = mcs::has_our_schema(**file);
        if (!ours.ok() && ours.error().damage == rs::Damage::Pages) // whose it is cannot be known: it is read only
            return Opened{{}, std::move(file).value(), path, true};
        if (!ours.ok()) return failed(path, ours.error().message);
    }
    auto lock = rs::DatabaseLock::take(path, rs::DatabaseLock::How::Exclusive);
    if (!lock.ok())
        return failed(path, lock.error().message,
                      {"a daemon that runs checks itself:  ykctl mcs status      stop it first:  systemctl stop ykd"});
    auto connection = rs::SqliteConnection::open(path);
    if (!connection.ok()) return failed(path, connection.error().message);
    return Opened{std::move(lock).value(), std::move(connection).value(), path, true};
}

#ifdef YK_WITH_PG
Answer<Opened> open_postgres(const std::string& url) {
    const std::string shown = rs::shown_address(url);
    auto connection = rs::PostgresConnection::open({url});
    if (!connection.ok()) return failed(shown, connection.error().message);
    return Opened{{}, std::move(connection).value(), shown, false};
}
#else
Answer<Opened> open_postgres(const std::string& /*url*/) {
    return failed("postgresql://", "this ykctl was built without PostgreSQL (libpq-dev, YK_WITH_PG)");
}
#endif

/// Who leads as something, and so writes; empty: nobody.
std::string leader_in(const CheckReport& report) {
    for (const mcs::LeaseNote& each : report.leases)
        if (!each.holder.empty() && each.left_ms > 0) return each.holder;
    return {};
}

Value value_of(const CheckReport& report, const std::string& place, std::int64_t mended) {
    Value tables = Value::object();
    for (const mcs::TableSize& each : report.tables) tables[each.table] = each.rows;
    Value leases = Value::array();
    for (const mcs::LeaseNote& each : report.leases)
        leases.push_back(
            {{"name", each.name}, {"holder", each.holder}, {"epoch", each.epoch}, {"leftMs", each.left_ms}});
    Value findings = Value::array();
    for (const mcs::DatabaseFault& each : report.findings)
        findings.push_back({{"what", each.what},
                            {"table", each.table},
                            {"id", each.id},
                            {"text", each.text},
                            {"mendable", each.can_be_mended}});
    return {{"database", place},           {"uid", report.uid},
            {"position", report.position}, {"rows", std::move(tables)},
            {"leases", std::move(leases)}, {"findings", std::move(findings)},
            {"leftOut", report.left_out},  {"mended", mended}};
}

std::string finding_text(const mcs::DatabaseFault& each) {
    const std::string where = each.table + (each.table.empty() || each.id.empty() ? "" : " ") + each.id;
    return fmt::format("  {}{}{}: {}\n", each.what, where.empty() ? "" : " ", printable(where), printable(each.text));
}

std::string report_text(const CheckReport& report, const std::string& place, std::int64_t mended, const Style& style) {
    std::string rows, leaders;
    for (const mcs::TableSize& each : report.tables)
        rows += fmt::format("{}{} {}", rows.empty() ? "" : ", ", each.rows, each.table);
    for (const mcs::LeaseNote& each : report.leases)
        if (!each.holder.empty())
            leaders += fmt::format("{}{}: {}{}", leaders.empty() ? "" : ", ", each.name, printable(each.holder),
                                   each.left_ms > 0 ? "" : " (run out)");
    std::string text = fields_text({{"database", printable(place)},
                                    {"uid", or_dash(printable(report.uid))},
                                    {"position", or_dash(printable(report.position))},
                                    {"rows", or_dash(rows)},
                                    {"leases", or_dash(leaders)}},
                                   style);
    if (mended > 0) text += fmt::format("{} mended\n", pluralize(static_cast<std::uint64_t>(mended), "row"));
    const std::uint64_t count = report.findings.size() + report.left_out;
    if (count == 0) return text + "nothing is wrong\n";
    text += fmt::format("{} wrong:\n", pluralize(count, "thing"));
    for (const mcs::DatabaseFault& each : report.findings) text += finding_text(each);
    if (report.left_out > 0) text += fmt::format("  and {} more\n", report.left_out);
    return text;
}

/// All that can be said of it.
Answer<CheckReport> look_at(const Opened& opened) {
    auto report = mcs::check_database(*opened.connection, opened.rules());
    if (!report.ok()) return failed(opened.shown, report.error().message);
    return std::move(report).value();
}

struct CheckOptions {
    std::string database;
    bool repairs = false;
};

Outcome check(Context& context, const CheckOptions& options) {
    const bool is_postgres =
        options.database.starts_with("postgresql://") || options.database.starts_with("postgres://");
    YK_TRY(opened, is_postgres ? open_postgres(options.database) : open_sqlite(path_of(options.database)));
    YK_TRY(report, look_at(opened));
    std::int64_t mended = 0;
    if (options.repairs && report.mendable() > 0) {
        if (const std::string leader = leader_in(report); !leader.empty())
            return failed(opened.shown, "a daemon writes it: " + leader, {"stop all that use it, then try again"});
        const auto done = mcs::mend_database(*opened.connection, opened.rules());
        if (!done.ok()) return failed(opened.shown, done.error().message);
        mended = *done;
        YK_TRY(anew, look_at(opened));
        report = std::move(anew);
    }
    YK_TRY(shown, context.show_item(value_of(report, opened.shown, mended), report.uid,
                                    report_text(report, opened.shown, mended, context.style())));
    if (report.findings.empty()) return shown;
    if (report.mendable() > 0 && !options.repairs)
        context.note(pluralize(report.mendable(), "thing") + " can be mended:  --repair");
    return Exit::Different;
}

} // namespace

void define_mcs_check(Command noun, Context& context) {
    const auto command = noun.sub("check", "look for what is wrong in a database itself, without ykd");
    const auto options = std::make_shared<CheckOptions>();
    command.option("--db", options->database, "sqlite:PATH, PATH or postgresql://HOST/DATABASE")
        .value("URL")
        .required();
    command.flag("--repair", options->repairs, "mend what can be: orphans, counters, missing leases and triggers");
    command.run([&context, options] { return check(context, *options); });
}

} // namespace yk::cli
