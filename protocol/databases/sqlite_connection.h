// SPDX-License-Identifier: Apache-2.0
#pragma once
// SqliteConnection: one connection to a database of SQLite, with its prepared statements.
//
// Owner: the store or log that uses it. Thread: one at a time. Others, also of other processes, may have the file open.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/databases/sql_connection.h"

struct sqlite3;

namespace yk::rs {

using SqliteStatement = SqlStatement;
using SqliteTransaction = SqlTransaction;

class SqliteKept; // a prepared statement

struct SqliteSettings {
    bool waits_for_disk = true; // false: a power failure may cost the last commits; a killed process does not
    std::chrono::milliseconds most_for_locks{
        5000}; // that a statement waits for the locks of others, before it is Transient
};

class SqliteConnection final : public SqlConnection {
public:
    /// Opens the file, which is made if there is none, and sees that it is opened as wanted (rs R-021).
    [[nodiscard]] static Result<std::unique_ptr<SqliteConnection>, StoreError>
    open(const std::string& path, const SqliteSettings& settings = {});
    /// Opens a file that may be anybody's, to read it; it stays as it is.
    [[nodiscard]] static Result<std::unique_ptr<SqliteConnection>, StoreError> look_at(const std::string& path);
    ~SqliteConnection() override;

    [[nodiscard]] Result<void, StoreError> run(const std::string& sql) override;
    [[nodiscard]] SqlStatement statement(const std::string& sql) override;
    [[nodiscard]] std::int64_t changes() const override;
    [[nodiscard]] Result<void, StoreError> begin(SqlAccess access) override;
    [[nodiscard]] Result<void, StoreError> commit() override;
    void roll_back() override;
    [[nodiscard]] bool is_in_transaction() const override;
    [[nodiscard]] Result<Cursor, StoreError> log_head(SqlAccess access) override;

    /// Down: the file, or its write-ahead log, is not where it was opened any more. SQLite goes on with what has no
    /// name, and all that is written would be lost with the process. begin() looks, too. Costs two look-ups of a name.
    [[nodiscard]] Result<void, StoreError> check_place();
    /// How long a statement waits for the locks of others from now on.
    void wait_for_locks(std::chrono::milliseconds most);
    /// After each commit of this connection, `call` gets the number of pages that the write-ahead log has then. It must
    /// not use the connection.
    void on_commit(std::function<void(std::int64_t pages)> call);
    enum class Checkpoint : std::uint8_t {
        Passive, // copies what no reader needs any more, and waits for nobody
        Truncate // copies everything and empties the file; Transient if a reader or writer is in the way for long
    };
    struct WalState {
        std::int64_t pages = 0;  // in the write-ahead log
        std::int64_t copied = 0; // of them, into the database
    };
    [[nodiscard]] Result<WalState, StoreError> checkpoint(Checkpoint how);

private:
    SqliteConnection(sqlite3* database, const SqliteSettings& settings);
    [[nodiscard]] static Result<std::unique_ptr<SqliteConnection>, StoreError>
    begin(const std::string& path, const SqliteSettings& settings, int how);
    [[nodiscard]] Result<void, StoreError> set_up();
    [[nodiscard]] bool has_lost_log();

    sqlite3* const database_;
    std::optional<std::uint64_t> log_file_; // the number of the write-ahead log's file, once it was seen
    std::map<std::string, std::unique_ptr<SqliteKept>, std::less<>> statements_;
    std::function<void(std::int64_t)> on_commit_;
    SqliteSettings settings_;
};

} // namespace yk::rs
