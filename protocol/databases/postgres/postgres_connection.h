// SPDX-License-Identifier: Apache-2.0
#pragma once
// PostgresConnection: a connection to a database of PostgreSQL that outlives its sessions. A session that was lost is
// followed by another one when something is asked next, but never within a transaction: what is left of that fails. A
// new session is set up as the first one was: its limits, its prepared statements, what it listens to; and it must find
// the same database (rs R-029, rs R-031).
//
// A server that only reads is refused, since it lags behind the one that writes.

#include <map>
#include <memory>
#include <string>

#include "protocol/databases/postgres/postgres_session.h"
#include "protocol/databases/sql_connection.h"

namespace yk::rs {

class PostgresKept; // a prepared statement

/// Owner: the store or log that uses it. Thread: one at a time.
class PostgresConnection final : public SqlConnection {
public:
    /// `db_uid`: which database has to be there, if it is known; else the first one that is found.
    [[nodiscard]] static Result<std::unique_ptr<PostgresConnection>, StoreError> open(PostgresSettings settings,
                                                                                      std::string db_uid = {});
    ~PostgresConnection() override;

    [[nodiscard]] Result<void, StoreError> run(const std::string& sql) override;
    [[nodiscard]] SqlStatement statement(const std::string& sql) override;
    [[nodiscard]] std::int64_t changes() const override { return changes_; }
    [[nodiscard]] Result<void, StoreError> begin(SqlAccess access) override;
    [[nodiscard]] Result<void, StoreError> commit() override;
    void roll_back() override;
    [[nodiscard]] bool is_in_transaction() const override;
    [[nodiscard]] Result<Cursor, StoreError> log_head(SqlAccess access) override;

    /// The name of the change log, as `log_epoch` of the database says it, and of the life of the server: another one
    /// after a restore, and after a failover, which may have lost commits (rs R-032).
    [[nodiscard]] std::string epoch_of(const std::string& log_epoch) const { return log_epoch + life_; }

    /// Wakes whoever waits for commits, from now on and in every session.
    [[nodiscard]] Result<void, StoreError> listen();
    void stop_listening();
    /// Whether there may have been commits since the last call: false if it listened all the time and heard of none.
    [[nodiscard]] bool has_news();
    /// Until there may have been commits, or the time is over.
    void wait_for_news(Duration limit);
    /// A descriptor that can be read when there may have been commits; -1: there is no session. For whoever waits for
    /// other things, too. REQUIRES: it is not read, and hear_news() is called before it is waited for again.
    [[nodiscard]] int news_socket() const { return session_ ? session_->socket() : -1; }
    /// Keeps what has come for has_news().
    void hear_news();

private:
    friend class PostgresKept;

    PostgresConnection(PostgresSettings settings, std::string db_uid);
    /// A session that works; Down within a transaction that had another one.
    [[nodiscard]] Result<void, StoreError> ensure_session();
    [[nodiscard]] Result<void, StoreError> begin_session();
    [[nodiscard]] Result<void, StoreError> set_up(PostgresSession& session);
    [[nodiscard]] Result<void, StoreError> check_database(PostgresSession& session, bool has_tables);
    [[nodiscard]] PostgresSession::Answer execute(PostgresKept& statement);

    const PostgresSettings settings_;
    std::string db_uid_;
    std::unique_ptr<PostgresSession> session_;
    std::uint64_t sessions_ = 0; // how many there were; statements are prepared in one of them
    bool has_worked_ = false;    // a session has been set up
    std::string life_;           // of the server, as the last session found it
    std::map<std::string, std::unique_ptr<PostgresKept>, std::less<>> statements_;
    std::int64_t changes_ = 0;
    bool is_within_ = false; // begin() without commit() or roll_back()
    bool listens_ = false;
    std::uint64_t heard_in_ = 0; // the session in which has_news() was last asked
    bool has_heard_ = false;     // since then
};

} // namespace yk::rs
