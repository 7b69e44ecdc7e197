// SPDX-License-Identifier: Apache-2.0
#pragma once
// PostgresSession: one session at a server of PostgreSQL, from its beginning until it is lost or closed. It never
// begins anew by itself. Every call has a limit on this side, since a server that hangs keeps no limit of its own.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/resource_state/ports/resource_store.h"

struct pg_conn;
struct pg_result;

namespace yk::rs {

struct PostgresSettings {
    std::string url;                                     // postgresql://... or key=value ..., as libpq takes it
    Duration connect_limit = std::chrono::seconds{5};    // but for the look-up of a name, which the system limits
    Duration statement_limit = std::chrono::seconds{10}; // of each statement, kept by the server
    Duration answer_limit = std::chrono::seconds{11};    // of each call, kept on this side
    Duration idle_limit = std::chrono::seconds{15};      // in a transaction, kept by the server: one that is open
                                                         // holds the change log back
    bool notifies = true; // who reads the log is woken by commits; each such commit waits for the others
};

/// `postgresql://HOST:PORT/DATABASE` of an address, for people: without user and password; nothing but
/// `postgresql://` of one that cannot be understood.
[[nodiscard]] std::string shown_address(const std::string& url);

/// What a statement came to.
class PostgresResult {
public:
    explicit PostgresResult(pg_result* result) : result_(result, clear) {}

    [[nodiscard]] int rows() const;
    [[nodiscard]] std::int64_t changes() const; // rows that it changed
    // Of a row, both from 0. A column that is NULL is 0 or empty; a truth is 1 or 0.
    [[nodiscard]] std::int64_t number(int row, int column) const;
    [[nodiscard]] std::string_view view(int row, int column) const; // valid as long as this is there
    [[nodiscard]] std::string text(int row, int column) const { return std::string{view(row, column)}; }

private:
    static void clear(pg_result* result);
    std::unique_ptr<pg_result, void (*)(pg_result*)> result_;
};

/// Owner: a PostgresConnection. Thread: one at a time.
class PostgresSession {
public:
    using Answer = Result<PostgresResult, StoreError>;
    using Parameters = std::vector<std::optional<std::string>>;

    /// Whether a session is one that can be used; empty: each is.
    using Check = std::function<Result<void, StoreError>(PostgresSession& session)>;
    /// With the first server of the address that lets in and passes the check.
    [[nodiscard]] static Result<std::unique_ptr<PostgresSession>, StoreError> open(const PostgresSettings& settings,
                                                                                   const Check& check = {});
    ~PostgresSession() { close(); }
    PostgresSession(const PostgresSession&) = delete;
    PostgresSession& operator=(const PostgresSession&) = delete;

    /// Several statements without parameters. The answer is that of the last one, or the first error.
    [[nodiscard]] Answer query(const std::string& sql);
    [[nodiscard]] Answer prepare(const std::string& name, const std::string& sql);
    [[nodiscard]] Answer execute(const std::string& name, const Parameters& parameters);

    /// False: it is lost, or was closed since something took too long; every call answers Down.
    [[nodiscard]] bool is_open() const { return connection_ != nullptr; }
    /// Looks whether it was lost while it was not used.
    [[nodiscard]] bool check();
    [[nodiscard]] bool is_in_transaction() const;
    /// Within one in which something failed, and nothing goes on but a rollback.
    [[nodiscard]] bool has_failed_transaction() const;
    [[nodiscard]] int version() const; // of the server: 150000 and more is 15

    /// What it waits for the server with; -1: the session is lost.
    [[nodiscard]] int socket() const;
    /// Whether notifications have come since the last call.
    [[nodiscard]] bool take_notifications();
    /// Until something comes from the server, or the time is over.
    void wait(Duration limit);

private:
    explicit PostgresSession(pg_conn* connection, Duration limit) : connection_(connection), limit_(limit) {}
    [[nodiscard]] Result<void, StoreError> connect(Duration limit);
    /// The answer to what was sent; `is_sent`: 0 if it could not be.
    [[nodiscard]] Answer answer(int is_sent);
    [[nodiscard]] Result<void, StoreError> flush(Instant deadline);
    [[nodiscard]] Result<pg_result*, StoreError> next_result(Instant deadline);
    /// False: the time is over.
    [[nodiscard]] bool wait_until(short events, Instant deadline) const;
    /// Ends the session.
    [[nodiscard]] StoreError lose(const std::string& why);
    void close();

    pg_conn* connection_;
    const Duration limit_;
};

} // namespace yk::rs
