// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/postgres/postgres_connection.h"

#include <utility>

#include "libcore/base/number.h"
#include "protocol/databases/postgres/postgres_words.h"

namespace yk::rs {
namespace {

constexpr const char* kListen = "LISTEN mcs_change";
constexpr const char* kStopListening = "UNLISTEN mcs_change";

std::string milliseconds(Duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

} // namespace

/// All rows come with the first step, so statements may be stepped beside each other.
class PostgresKept final : public KeptStatement {
public:
    PostgresKept(PostgresConnection& connection, std::string statement_name, const std::string& statement)
        : name(std::move(statement_name)),
          sql(in_postgres(statement)),
          parameters(count_places(sql)),
          connection_(connection) {}

    void bind(int place, std::int64_t value) override { put(place, std::to_string(value)); }
    void bind(int place, std::string_view value) override { put(place, std::string{value}); }
    [[nodiscard]] Result<bool, StoreError> step() override {
        if (result_) return ++row_ < result_->rows();
        YK_TRY(result, connection_.execute(*this));
        result_ = std::move(result);
        row_ = 0;
        return result_->rows() > 0;
    }
    [[nodiscard]] std::int64_t number(int column) const override { return result_->number(row_, column); }
    [[nodiscard]] std::string_view view(int column) const override { return result_->view(row_, column); }
    void reset() override {
        result_.reset();
        parameters.assign(parameters.size(), std::nullopt);
    }
    const std::string name;
    const std::string sql;
    PostgresSession::Parameters parameters;
    std::uint64_t prepared_in = 0; // the number of a session

private:
    /// A place that the statement does not have is not looked at, as in SQLite.
    void put(int place, std::string value) {
        const auto index = static_cast<std::size_t>(place) - 1;
        if (index < parameters.size()) parameters[index] = std::move(value);
    }

    PostgresConnection& connection_;
    std::optional<PostgresResult> result_;
    int row_ = 0;
};

PostgresConnection::PostgresConnection(PostgresSettings settings, std::string db_uid)
    : settings_(std::move(settings)), db_uid_(std::move(db_uid)) {}

PostgresConnection::~PostgresConnection() = default;

Result<std::unique_ptr<PostgresConnection>, StoreError> PostgresConnection::open(PostgresSettings settings,
                                                                                 std::string db_uid) {
    std::unique_ptr<PostgresConnection> connection{new PostgresConnection(std::move(settings), std::move(db_uid))};
    YK_CHECKED(connection->ensure_session());
    return connection;
}

/// One that was lost while nobody used it is found out here, before something is asked in vain.
Result<void, StoreError> PostgresConnection::ensure_session() {
    if (is_within_) {
        if (session_ && session_->is_open()) return {};
        return StoreError{StoreFault::Down, "the session was lost within the transaction"};
    }
    if (session_ && session_->check()) return {};
    session_.reset();
    auto done = begin_session();
    has_worked_ = has_worked_ || done.ok();
    // A server that is another one now, or does not let in who was let in before, may be as it was again. Down, and not
    // Fatal, has it asked now and then by one, not by each read.
    if (!done.ok() && has_worked_ && done.error().fault == StoreFault::Fatal)
        return StoreError{StoreFault::Down, done.error().message};
    return done;
}

Result<void, StoreError> PostgresConnection::begin_session() {
    YK_TRY(session, PostgresSession::open(settings_, [this](PostgresSession& made) { return set_up(made); }));
    session_ = std::move(session);
    ++sessions_;
    return {};
}

/// A pooler that gives each transaction another session of the server would lose prepared statements and what is
/// listened to: it is known by two processes that answer one after the other.
Result<void, StoreError> PostgresConnection::set_up(PostgresSession& session) {
    if (session.version() < 130'000) return StoreError{StoreFault::Fatal, "this server of PostgreSQL is older than 13"};
    const std::string limits = "SELECT set_config('statement_timeout', '" + milliseconds(settings_.statement_limit) +
                               "', false), set_config('idle_in_transaction_session_timeout', '" +
                               milliseconds(settings_.idle_limit) + "', false), set_config('mcs.notify', '" +
                               (settings_.notifies ? "on" : "off") +
                               // Each statement has an index. A plan that was made while a table was empty would read
                               // all of it ever after, until somebody analyses it; that of a foreign key, too.
                               "', false), set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false)";
    YK_TRY(first, session.query("SELECT pg_backend_pid()"));
    YK_TRY(limited, session.query(limits));
    YK_TRY(found, session.query(
                      "SELECT pg_backend_pid(), pg_is_in_recovery(), to_regclass('mcs_meta') IS NOT NULL,"
                      " '/' || (pg_control_system()).system_identifier || '/' || CASE WHEN NOT pg_is_in_recovery() THEN"
                      " substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END || '/' ||"
                      " (SELECT oid FROM pg_database WHERE datname = current_database())"));
    if (first.number(0, 0) != found.number(0, 0))
        return StoreError{StoreFault::Fatal, "a pooler shares sessions between transactions; connect to the server"};
    if (found.number(0, 1) != 0)
        return StoreError{StoreFault::Down, "this server is a replica; connect to the one that writes"};
    life_ = found.text(0, 3);
    YK_CHECKED(check_database(session, found.number(0, 2) != 0));
    if (!listens_) return {};
    YK_TRY(listening, session.query(kListen));
    return {};
}

Result<void, StoreError> PostgresConnection::check_database(PostgresSession& session, bool has_tables) {
    std::string uid;
    if (has_tables) {
        YK_TRY(row, session.query("SELECT value FROM mcs_meta WHERE key = 'db_uid'"));
        if (row.rows() > 0) uid = row.text(0, 0);
    }
    if (db_uid_.empty()) db_uid_ = uid;
    if (uid == db_uid_) return {};
    return StoreError{StoreFault::Fatal, "wrong database: it is " + (uid.empty() ? "an empty one" : uid) + ", and " +
                                             db_uid_ + " was here before"};
}

Result<void, StoreError> PostgresConnection::run(const std::string& sql) {
    YK_CHECKED(ensure_session());
    YK_TRY(result, session_->query(sql));
    changes_ = result.changes();
    return {};
}

SqlStatement PostgresConnection::statement(const std::string& sql) {
    auto& kept = statements_[sql];
    if (kept == nullptr) kept = std::make_unique<PostgresKept>(*this, "s" + std::to_string(statements_.size()), sql);
    return SqlStatement{*kept};
}

PostgresSession::Answer PostgresConnection::execute(PostgresKept& statement) {
    YK_CHECKED(ensure_session());
    if (statement.prepared_in != sessions_) {
        YK_TRY(prepared, session_->prepare(statement.name, statement.sql));
        statement.prepared_in = sessions_;
    }
    auto result = session_->execute(statement.name, statement.parameters);
    if (result.ok()) changes_ = result->changes();
    return result;
}

Result<void, StoreError> PostgresConnection::begin(SqlAccess access) {
    YK_CHECKED(run(access == SqlAccess::Read ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                                             : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"));
    is_within_ = true;
    return {};
}

/// A COMMIT of a transaction in which something failed rolls it back and says that all went well.
Result<void, StoreError> PostgresConnection::commit() {
    if (session_ && session_->has_failed_transaction()) {
        roll_back();
        return StoreError{StoreFault::Transient, "something failed before the commit"};
    }
    auto done = run("COMMIT");
    is_within_ = false;
    return done;
}

void PostgresConnection::roll_back() {
    is_within_ = false;
    if (is_in_transaction()) static_cast<void>(session_->query("ROLLBACK"));
}

bool PostgresConnection::is_in_transaction() const {
    return session_ && session_->is_in_transaction();
}

/// A reader has seen everything below the first transaction that had not begun then, but for those that were under way;
/// these come after the fence of whoever consumes the log, and that passes them only when they have ended.
Result<Cursor, StoreError> PostgresConnection::log_head(SqlAccess access) {
    SqlStatement ask =
        statement(access == SqlAccess::Read ? "SELECT (SELECT value FROM mcs_meta WHERE key = 'log_epoch'),"
                                              " pg_snapshot_xmax(pg_current_snapshot()), 0"
                                            : "SELECT (SELECT value FROM mcs_meta WHERE key = 'log_epoch'),"
                                              " pg_current_xact_id(), (SELECT coalesce(max(seq), 0) FROM change_log"
                                              " WHERE xid = pg_current_xact_id())");
    YK_TRY(has_row, ask.step());
    static_cast<void>(has_row);
    const auto transaction = to_number<std::uint64_t>(ask.text(1)).value_or(0);
    return Cursor{epoch_of(ask.text(0)), {Position{transaction, static_cast<std::uint64_t>(ask.number(2))}}};
}

Result<void, StoreError> PostgresConnection::listen() {
    listens_ = true;
    return run(kListen);
}

/// A session that is lost listens to nothing, and the next one will not.
void PostgresConnection::stop_listening() {
    if (!std::exchange(listens_, false) || !session_ || !session_->is_open()) return;
    static_cast<void>(run(kStopListening));
}

bool PostgresConnection::has_news() {
    const bool is_same = session_ && session_->is_open() && heard_in_ == sessions_;
    hear_news();
    const bool has_any = std::exchange(has_heard_, false);
    const bool may_miss = !listens_ || !is_same || !session_->is_open();
    heard_in_ = sessions_;
    return may_miss || has_any;
}

void PostgresConnection::hear_news() {
    if (session_ && session_->take_notifications()) has_heard_ = true;
}

void PostgresConnection::wait_for_news(Duration limit) {
    if (session_) session_->wait(limit);
}

} // namespace yk::rs
