// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small tools for the statements of a write: parameters of several types, and errors as outcomes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/mcs/writes.h"
#include "protocol/databases/sql_connection.h"

/// Declares `name` with the value of `expr`, or returns its error as an outcome.
#define YK_SQL(name, expr)                                                                                             \
    auto YK_CONCAT(yk_sql_, __LINE__) = (expr);                                                                        \
    if (!YK_CONCAT(yk_sql_, __LINE__).ok()) return outcome_of(YK_CONCAT(yk_sql_, __LINE__).error());                   \
    auto name = std::move(YK_CONCAT(yk_sql_, __LINE__)).value()

/// Returns the outcome if there is one.
#define YK_REFUSED(expr)                                                                                               \
    if (auto yk_refused = (expr)) return *std::move(yk_refused)

// What only one transaction may do at a time, though not all of what it looks at is a row that it can lock.
#define YK_SCHEMA_LOCK "7956001"
#define YK_NAMES_LOCK "7956002"

namespace yk::mcs {

using Refused = std::optional<WriteOutcome>;

inline void bind_to(rs::SqlStatement& statement, int place, std::int64_t number) {
    statement.bind(place, number);
}
inline void bind_to(rs::SqlStatement& statement, int place, const std::string& text) {
    statement.bind(place, std::string_view{text});
}
/// What is not bound is NULL.
template <class Value>
void bind_to(rs::SqlStatement& statement, int place, const std::optional<Value>& value) {
    if (value) bind_to(statement, place, *value);
}

/// Runs a statement without rows, and returns how many rows it changed. The parameters are bound in order.
template <class... Parameters>
[[nodiscard]] Result<std::int64_t, rs::StoreError> execute(rs::SqlConnection& connection, const std::string& sql,
                                                           const Parameters&... parameters) {
    rs::SqlStatement statement = connection.statement(sql);
    int place = 0;
    (bind_to(statement, ++place, parameters), ...);
    YK_TRY(has_row, statement.step());
    static_cast<void>(has_row);
    return connection.changes();
}

/// Whether a question has a row.
template <class... Parameters>
[[nodiscard]] Result<bool, rs::StoreError> has_row(rs::SqlConnection& connection, const std::string& sql,
                                                   const Parameters&... parameters) {
    rs::SqlStatement statement = connection.statement(sql);
    int place = 0;
    (bind_to(statement, ++place, parameters), ...);
    return statement.step();
}

/// The row that is there under an id. Nobody else changes it until the transaction has ended.
struct CurrentRow {
    std::string uid;
    std::int64_t version = 0;
};
[[nodiscard]] inline Result<std::optional<CurrentRow>, rs::StoreError>
find_current(rs::SqlConnection& connection, const std::string& table, const std::string& id) {
    rs::SqlStatement statement =
        connection.statement("SELECT uid, version FROM " + table + " WHERE id = ? /*pg FOR UPDATE */");
    YK_TRY(is_there, statement.bind(1, std::string_view{id}).step());
    if (!is_there) return std::optional<CurrentRow>{};
    return std::optional<CurrentRow>{CurrentRow{statement.text(0), statement.number(1)}};
}

/// Refuses if the row is not the one that the writer meant (rs R-012).
[[nodiscard]] inline Refused check_expected(const std::optional<CurrentRow>& current, const std::string& id,
                                            const Expect& expect) {
    if (!current) return Conflict{Conflict::What::RowGone, id + " is not there", 0};
    if (current->uid != expect.uid)
        return Conflict{Conflict::What::RowGone, id + " is another one of that id", current->version};
    if (expect.version == 0 || expect.version == current->version) return std::nullopt;
    return Conflict{Conflict::What::RowChanged, id + " has version " + std::to_string(current->version) + " now",
                    current->version};
}

/// The uid that was wanted, or a random one.
[[nodiscard]] inline Result<std::string, rs::StoreError> uid_for(rs::SqlConnection& connection,
                                                                 const std::string& wanted) {
    if (!wanted.empty()) return wanted;
    return connection.text("SELECT " YK_RANDOM_UID);
}

inline WriteOutcome written(const CurrentRow& row) {
    return Written{row.uid, row.version, {}};
}

/// Refuses if the row is not the one that was meant; `current` is it otherwise.
inline Refused look(rs::SqlConnection& connection, const std::string& table, const std::string& id,
                    const Expect& expect, CurrentRow& current) {
    YK_SQL(found, find_current(connection, table, id));
    YK_REFUSED(check_expected(found, id, expect));
    current = *found;
    return std::nullopt;
}

/// Changes the columns of one row, if it is the one that was meant. The columns are bound from ?4 on. Mostly it is, and
/// one statement is enough; else it is looked at, for what is wrong.
template <class... Columns>
WriteOutcome update(rs::SqlConnection& connection, const std::string& table, const std::string& assignments,
                    const std::string& id, const Expect& expect, const Columns&... columns) {
    const std::string sql = "UPDATE " + table + " SET version = version + 1, updated_ms = " YK_NOW_MS ", " +
                            assignments + " WHERE id = ?1 AND uid = ?2 AND version = ?3";
    YK_SQL(count, execute(connection, sql, id, expect.uid, expect.version, columns...));
    if (count != 0) return written({expect.uid, expect.version + 1});
    CurrentRow current;
    YK_REFUSED(look(connection, table, id, expect, current));
    YK_SQL(again, execute(connection, sql, id, current.uid, current.version, columns...));
    static_cast<void>(again);
    return written({current.uid, current.version + 1});
}

inline WriteOutcome erase(rs::SqlConnection& connection, const std::string& table, const std::string& id,
                          const Expect& expect) {
    CurrentRow current;
    YK_REFUSED(look(connection, table, id, expect, current));
    YK_SQL(count, execute(connection, "DELETE FROM " + table + " WHERE id = ?", id));
    static_cast<void>(count);
    return written({current.uid, 0});
}

} // namespace yk::mcs
