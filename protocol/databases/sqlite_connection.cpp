// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/sqlite_connection.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace yk::rs {
namespace {

constexpr int kMostForCutMs = 20; // that a cut of the write-ahead log waits for those who read and write

/// What no line names is Transient: tried again, but by whoever counts the tries (rs R-033).
StoreFault fault_of(int extended) {
    if (extended == SQLITE_CONSTRAINT_TRIGGER || extended == SQLITE_CONSTRAINT_CHECK ||
        extended == SQLITE_CONSTRAINT_NOTNULL)
        return StoreFault::Fatal; // a rule of the schema, not a race
    switch (extended & 0xff) {
    case SQLITE_CONSTRAINT: return StoreFault::Conflict;
    case SQLITE_CANTOPEN: return StoreFault::Down;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: // a table or column that is not there
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_MISUSE: return StoreFault::Fatal;
    default: return StoreFault::Transient;
    }
}

Damage damage_of(int extended) {
    switch (extended & 0xff) {
    case SQLITE_CORRUPT: return Damage::Pages;
    case SQLITE_NOTADB: return Damage::File;
    default: return Damage::None;
    }
}

StoreError error_of(sqlite3* database) {
    const int extended = sqlite3_extended_errcode(database);
    const Damage damage = damage_of(extended);
    const char* const way_out = damage == Damage::Pages ? "; stop ykd and put a copy back" : "";
    return {fault_of(extended), std::string{sqlite3_errmsg(database)} + way_out, damage};
}

StoreError not_in_its_place(const std::string& path) {
    return {StoreFault::Down, path +
                                  " was removed, moved or replaced while ykd uses it, and what is written now would be "
                                  "lost: put it back, or restart ykd with what is there (what ykd has is in /proc/" +
                                  std::to_string(::getpid()) + "/fd until then)"};
}

/// The address of a file that nobody changes.
std::string unchanging(const std::string& path) {
    std::string address = "file://";
    for (const char each : path) {
        if (each == '%')
            address += "%25";
        else if (each == '?')
            address += "%3F";
        else if (each == '#')
            address += "%23";
        else
            address += each;
    }
    return address + "?immutable=1";
}

} // namespace

class SqliteKept final : public KeptStatement {
public:
    explicit SqliteKept(sqlite3_stmt* statement, std::optional<StoreError> refused)
        : statement_(statement), refused_(std::move(refused)) {}
    ~SqliteKept() override { sqlite3_finalize(statement_); }
    SqliteKept(const SqliteKept&) = delete;
    SqliteKept& operator=(const SqliteKept&) = delete;

    void bind(int place, std::int64_t number) override { sqlite3_bind_int64(statement_, place, number); }
    void bind(int place, std::string_view text) override {
        sqlite3_bind_text64(statement_, place, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8);
    }
    [[nodiscard]] Result<bool, StoreError> step() override {
        if (refused_) return *refused_;
        const int step = sqlite3_step(statement_);
        if (step == SQLITE_ROW) return true;
        if (step == SQLITE_DONE) return false;
        return error_of(sqlite3_db_handle(statement_));
    }
    [[nodiscard]] std::int64_t number(int column) const override { return sqlite3_column_int64(statement_, column); }
    [[nodiscard]] std::string_view view(int column) const override {
        const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
        if (bytes == nullptr) return {};
        return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
    }
    void reset() override {
        sqlite3_reset(statement_);
        if (statement_ != nullptr) sqlite3_clear_bindings(statement_);
    }
    [[nodiscard]] bool is_prepared() const { return statement_ != nullptr; }

private:
    sqlite3_stmt* const statement_;           // nullptr: it could not be prepared
    const std::optional<StoreError> refused_; // and why
};

SqliteConnection::SqliteConnection(sqlite3* database, const SqliteSettings& settings)
    : database_(database), settings_(settings) {}

Result<std::unique_ptr<SqliteConnection>, StoreError> SqliteConnection::open(const std::string& path,
                                                                             const SqliteSettings& settings) {
    YK_TRY(connection, begin(path, settings, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    if (const auto done = connection->set_up(); !done.ok())
        return StoreError{done.error().fault, path + ": " + done.error().message, done.error().damage};
    return connection;
}

/// Where no write-ahead log is beside the file, it is all there is: then none is made either, as SQLite does for a
/// reader of a database that has used one.
Result<std::unique_ptr<SqliteConnection>, StoreError> SqliteConnection::look_at(const std::string& path) {
    std::error_code error;
    const std::string file = std::filesystem::canonical(path, error); // beside which SQLite keeps what is not in it yet
    const bool is_all =
        !error && !std::filesystem::exists(file + "-wal", error) && !std::filesystem::exists(file + "-journal", error);
    return is_all ? begin(unchanging(file), {}, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
                  : begin(path, {}, SQLITE_OPEN_READONLY);
}

Result<std::unique_ptr<SqliteConnection>, StoreError> SqliteConnection::begin(const std::string& path,
                                                                              const SqliteSettings& settings, int how) {
    sqlite3* database = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &database, how | SQLITE_OPEN_NOMUTEX, nullptr);
    std::unique_ptr<SqliteConnection> connection{new SqliteConnection(database, settings)};
    if (opened != SQLITE_OK) return StoreError{fault_of(opened), path + ": " + sqlite3_errmsg(database)};
    sqlite3_extended_result_codes(database, 1);
    connection->wait_for_locks(settings.most_for_locks);
    return connection;
}

/// Without recursive triggers REPLACE removes a row without a trace in the change log, without foreign keys children
/// outlive their parents; a file system that cannot share memory refuses the write-ahead log. No commit waits for a
/// checkpoint: those are made beside it (WalCheckpoints).
Result<void, StoreError> SqliteConnection::set_up() {
    YK_TRY(journal, text("PRAGMA journal_mode = WAL"));
    if (journal != "wal")
        return StoreError{StoreFault::Fatal,
                          "this file system does not let SQLite keep a write-ahead log; use a local one"};
    const std::int64_t synchronous = settings_.waits_for_disk ? 2 /* FULL */ : 1 /* NORMAL (rs R-022) */;
    const std::pair<const char*, std::int64_t> pragmas[] = {{"synchronous", synchronous},
                                                            {"foreign_keys", 1},
                                                            {"recursive_triggers", 1},
                                                            {"wal_autocheckpoint", 0},
                                                            {"cache_size", -65536}};
    for (const auto& [name, wanted] : pragmas) {
        const std::string pragma = std::string{"PRAGMA "} + name;
        YK_CHECKED(run(pragma + " = " + std::to_string(wanted)));
        YK_TRY(found, number(pragma));
        if (found != wanted) return StoreError{StoreFault::Fatal, pragma + " cannot be set"};
    }
    return run("PRAGMA mmap_size = 1073741824"); // as much of it as the library and the system allow
}

void SqliteConnection::wait_for_locks(std::chrono::milliseconds most) {
    settings_.most_for_locks = most;
    sqlite3_busy_timeout(database_, static_cast<int>(most.count()));
}

SqliteConnection::~SqliteConnection() {
    statements_.clear();
    sqlite3_close(database_);
}

Result<void, StoreError> SqliteConnection::run(const std::string& sql) {
    if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return error_of(database_);
}

/// One that could not be prepared is tried again: its table may have come.
SqlStatement SqliteConnection::statement(const std::string& sql) {
    auto& kept = statements_[sql];
    if (kept != nullptr && kept->is_prepared()) return SqlStatement{*kept};
    sqlite3_stmt* made = nullptr;
    std::optional<StoreError> refused;
    if (sqlite3_prepare_v3(database_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK)
        refused = error_of(database_);
    kept = std::make_unique<SqliteKept>(made, std::move(refused));
    return SqlStatement{*kept};
}

std::int64_t SqliteConnection::changes() const {
    return sqlite3_changes64(database_);
}

bool SqliteConnection::is_in_transaction() const {
    return sqlite3_get_autocommit(database_) == 0;
}

void SqliteConnection::on_commit(std::function<void(std::int64_t pages)> call) {
    on_commit_ = std::move(call);
    const auto committed = [](void* self, sqlite3*, const char*, int pages) {
        static_cast<SqliteConnection*>(self)->on_commit_(pages);
        return SQLITE_OK;
    };
    sqlite3_wal_hook(database_, committed, this);
}

/// A passive one that finds another at work copies nothing, and counts as done. One that truncates comes between two
/// commits of a busy writer, but keeps new ones out while it waits for a reader.
Result<SqliteConnection::WalState, StoreError> SqliteConnection::checkpoint(Checkpoint how) {
    const int mode = how == Checkpoint::Passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE;
    int pages = 0, copied = 0;
    sqlite3_busy_timeout(database_, how == Checkpoint::Passive ? 0 : kMostForCutMs);
    const int done = sqlite3_wal_checkpoint_v2(database_, nullptr, mode, &pages, &copied);
    wait_for_locks(settings_.most_for_locks);
    if (done == SQLITE_OK || (done == SQLITE_BUSY && how == Checkpoint::Passive))
        return WalState{std::max(pages, 0), std::max(copied, 0)};
    return error_of(database_);
}

bool SqliteConnection::has_lost_log() {
    struct ::stat found = {};
    const char* const path = sqlite3_filename_wal(sqlite3_db_filename(database_, nullptr));
    const bool is_there = path != nullptr && ::stat(path, &found) == 0;
    if (!log_file_ && is_there) log_file_ = found.st_ino;
    return log_file_ && (!is_there || *log_file_ != found.st_ino);
}

Result<void, StoreError> SqliteConnection::check_place() {
    int is_moved = 0;
    sqlite3_file_control(database_, nullptr, SQLITE_FCNTL_HAS_MOVED, &is_moved);
    const char* const path = sqlite3_db_filename(database_, nullptr);
    if (is_moved != 0) return not_in_its_place(path);
    if (has_lost_log()) return not_in_its_place(sqlite3_filename_wal(path));
    return {};
}

Result<void, StoreError> SqliteConnection::begin(SqlAccess access) {
    YK_CHECKED(check_place());
    return run(access == SqlAccess::Read ? "BEGIN" : "BEGIN IMMEDIATE");
}

Result<void, StoreError> SqliteConnection::commit() {
    return run("COMMIT");
}

void SqliteConnection::roll_back() {
    if (is_in_transaction()) static_cast<void>(run("ROLLBACK"));
}

/// The number of an event is never used again, and is known also when the log was purged to the last one (rs R-038).
Result<Cursor, StoreError> SqliteConnection::log_head(SqlAccess /*access*/) {
    YK_TRY(epoch, text("SELECT value FROM mcs_meta WHERE key = 'log_epoch'"));
    YK_TRY(last, number("SELECT seq FROM sqlite_sequence WHERE name = 'change_log'"));
    return Cursor{std::move(epoch), {Position{0, static_cast<std::uint64_t>(last)}}};
}

} // namespace yk::rs
