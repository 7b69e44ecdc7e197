// SPDX-License-Identifier: Apache-2.0
#pragma once
// SqlConnection: a connection to a database that keeps resource state, in so far as it does not matter which database
// that is. Statements are written as SQLite understands them: places as `?` or `?1`, the time as YK_NOW_MS. What is
// between `/*pg` and `*/` is a comment for SQLite, and part of the statement for PostgreSQL: the locks of rows, of
// which SQLite, where only one transaction writes at a time, has no need.

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/resource_state/ports/resource_store.h"

/// Milliseconds since 1970, by the clock of the database.
#define YK_NOW_MS "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
/// A random uid.
#define YK_RANDOM_UID "lower(hex(randomblob(16)))"

namespace yk::rs {

/// A row that a statement stands on. Columns count from 0.
class SqlRow {
public:
    virtual ~SqlRow() = default;
    /// 0 and the empty text stand for NULL. A truth is 1 or 0.
    [[nodiscard]] virtual std::int64_t number(int column) const = 0;
    /// Valid until the statement is stepped, reset or ended.
    [[nodiscard]] virtual std::string_view view(int column) const = 0;
    [[nodiscard]] std::string text(int column) const { return std::string{view(column)}; }
};

/// A statement as its connection keeps it, prepared.
class KeptStatement : public SqlRow {
public:
    virtual void bind(int place, std::int64_t number) = 0;
    virtual void bind(int place, std::string_view text) = 0;
    [[nodiscard]] virtual Result<bool, StoreError> step() = 0;
    virtual void reset() = 0;
};

/// A statement while it is used: bound, stepped, and reset at the end. Places count from 1; what is not bound is NULL.
class SqlStatement final : public SqlRow {
public:
    explicit SqlStatement(KeptStatement& kept) : kept_(kept) {}
    ~SqlStatement() override { kept_.reset(); }
    SqlStatement(const SqlStatement&) = delete;
    SqlStatement& operator=(const SqlStatement&) = delete;

    SqlStatement& bind(int place, std::int64_t number) {
        kept_.bind(place, number);
        return *this;
    }
    /// The text must stay until the end.
    SqlStatement& bind(int place, std::string_view text) {
        kept_.bind(place, text);
        return *this;
    }
    /// Whether there is a row.
    [[nodiscard]] Result<bool, StoreError> step() { return kept_.step(); }
    /// To be bound and stepped anew.
    void reset() { kept_.reset(); }
    [[nodiscard]] std::int64_t number(int column) const override { return kept_.number(column); }
    [[nodiscard]] std::string_view view(int column) const override { return kept_.view(column); }

private:
    KeptStatement& kept_;
};

/// What a transaction is for. Reads of one are of the same moment.
enum class SqlAccess : std::uint8_t { Read, Write };

/// Owner: the store or log that uses it. Thread: one at a time. Others, also of other processes, use the database, too.
class SqlConnection {
public:
    SqlConnection() = default;
    virtual ~SqlConnection() = default;
    SqlConnection(const SqlConnection&) = delete;
    SqlConnection& operator=(const SqlConnection&) = delete;

    /// Several statements without parameters or rows.
    [[nodiscard]] virtual Result<void, StoreError> run(const std::string& sql) = 0;
    /// The statement, prepared when it is first used. An error in it is one of its step().
    [[nodiscard]] virtual SqlStatement statement(const std::string& sql) = 0;
    /// Rows that the last statement changed.
    [[nodiscard]] virtual std::int64_t changes() const = 0;

    [[nodiscard]] virtual Result<void, StoreError> begin(SqlAccess access) = 0;
    [[nodiscard]] virtual Result<void, StoreError> commit() = 0;
    virtual void roll_back() = 0;
    /// False after some errors within one, too: the database has ended it then, and undone everything.
    [[nodiscard]] virtual bool is_in_transaction() const = 0;

    /// How far the change log is, for what a transaction that reads has seen, or one that writes has written. Whoever
    /// consumed the log so far knows of that. REQUIRES: within that transaction, at its end.
    [[nodiscard]] virtual Result<Cursor, StoreError> log_head(SqlAccess access) = 0;

    /// The number in the only column of the only row; `otherwise` where there is none.
    [[nodiscard]] Result<std::int64_t, StoreError> number(const std::string& sql, std::int64_t otherwise = 0);
    [[nodiscard]] Result<std::string, StoreError> text(const std::string& sql);
};

/// Everything between its beginning and commit(), or nothing. One that writes says so at its beginning: a transaction
/// that reads first and writes then is refused by SQLite when somebody else wrote in between (rs R-024).
class SqlTransaction {
public:
    using Kind = SqlAccess;

    SqlTransaction(SqlConnection& connection, SqlAccess access)
        : connection_(connection), begun_(connection.begin(access)) {}
    ~SqlTransaction() {
        if (begun_.ok() && !is_over_) connection_.roll_back();
    }
    SqlTransaction(const SqlTransaction&) = delete;
    SqlTransaction& operator=(const SqlTransaction&) = delete;

    [[nodiscard]] const Result<void, StoreError>& begun() const { return begun_; }
    [[nodiscard]] Result<void, StoreError> commit();

private:
    SqlConnection& connection_;
    const Result<void, StoreError> begun_;
    bool is_over_ = false;
};

} // namespace yk::rs
