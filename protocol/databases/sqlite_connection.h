// SPDX-License-Identifier: Apache-2.0
#pragma once
// SqliteConnection: one connection to a database of SQLite, with its prepared statements.
//
// Owner: the store or log that uses it. Thread: one at a time. Others, also of other processes, may have the file open.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/resource_state/ports/resource_store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace yk::rs {

/// A prepared statement while it is used: bound, stepped, and reset at the end. Places count from 1, columns from 0.
class SqliteStatement {
public:
    explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}
    ~SqliteStatement();
    SqliteStatement(const SqliteStatement&) = delete;
    SqliteStatement& operator=(const SqliteStatement&) = delete;

    SqliteStatement& bind(int place, std::int64_t number);
    /// The text must stay until the end.
    SqliteStatement& bind(int place, std::string_view text);
    /// Whether there is a row.
    [[nodiscard]] Result<bool, StoreError> step();
    /// Of the row: 0 and the empty text stand for NULL.
    [[nodiscard]] std::int64_t number(int column) const;
    [[nodiscard]] std::string text(int column) const;

private:
    sqlite3_stmt* const statement_;
};

class SqliteConnection {
public:
    /// Opens the file, which is made if there is none, and sees that it is opened as wanted (rs R-021).
    [[nodiscard]] static Result<std::unique_ptr<SqliteConnection>, StoreError> open(const std::string& path);
    ~SqliteConnection();
    SqliteConnection(const SqliteConnection&) = delete;
    SqliteConnection& operator=(const SqliteConnection&) = delete;

    /// Several statements without parameters or rows.
    [[nodiscard]] Result<void, StoreError> run(const std::string& sql);
    /// The statement, prepared when it is first used. An error in it is one of its step().
    [[nodiscard]] SqliteStatement statement(const std::string& sql);
    /// The number in the only column of the only row; `otherwise` where there is none.
    [[nodiscard]] Result<std::int64_t, StoreError> number(const std::string& sql, std::int64_t otherwise = 0);
    [[nodiscard]] Result<std::string, StoreError> text(const std::string& sql);
    /// Rows that the last statement changed.
    [[nodiscard]] std::int64_t changes() const;
    /// False after some errors within one, too: SQLite has ended it then, and undone everything.
    [[nodiscard]] bool is_in_transaction() const;

    /// After each commit of this connection, `call` gets the number of pages that the write-ahead log has then. It must
    /// not use the connection.
    void on_commit(std::function<void(std::int64_t pages)> call);
    enum class Checkpoint : std::uint8_t {
        Passive, // copies what no reader needs any more, and waits for nobody
        Truncate // copies everything and empties the file; Transient if a reader or writer is in the way
    };
    struct WalState {
        std::int64_t pages = 0;  // in the write-ahead log
        std::int64_t copied = 0; // of them, into the database
    };
    [[nodiscard]] Result<WalState, StoreError> checkpoint(Checkpoint how);

private:
    explicit SqliteConnection(sqlite3* database) : database_(database) {}
    [[nodiscard]] Result<void, StoreError> set_up();

    sqlite3* const database_;
    std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
    std::function<void(std::int64_t)> on_commit_;
};

/// Everything between its beginning and commit(), or nothing. One that writes says so at its beginning: a transaction
/// that reads first and writes then is refused by SQLite when somebody else wrote in between (rs R-024).
class SqliteTransaction {
public:
    enum class Kind : std::uint8_t { Read, Write };

    SqliteTransaction(SqliteConnection& connection, Kind kind)
        : connection_(connection), begun_(connection.run(kind == Kind::Read ? "BEGIN" : "BEGIN IMMEDIATE")) {}
    ~SqliteTransaction();
    SqliteTransaction(const SqliteTransaction&) = delete;
    SqliteTransaction& operator=(const SqliteTransaction&) = delete;

    [[nodiscard]] const Result<void, StoreError>& begun() const { return begun_; }
    [[nodiscard]] Result<void, StoreError> commit();

private:
    SqliteConnection& connection_;
    const Result<void, StoreError> begun_;
    bool is_over_ = false;
};

} // namespace yk::rs
