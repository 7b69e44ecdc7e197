// SPDX-License-Identifier: Apache-2.0
#pragma once
// PostgresChangeLog: the change log of a database of PostgreSQL, where many transactions write at a time. What is read
// ends below the oldest of those that are under way (the fence): numbers are handed out before the commit, and whoever
// read on by number alone would never see what a slow transaction wrote under a low one (rs R-041).
//
// A transaction that stays open, of any database of the server, holds the fence back. Nothing is lost by that, and all
// that came meanwhile is read when it ends.
//
// Owner: the program. Thread: one call at a time; its connection is its own.

#include "libcore/resource_state/ports/change_log.h"
#include "protocol/databases/postgres/postgres_connection.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::rs {

class PostgresChangeLog final : public ChangeLog {
public:
    /// With `notifies`, a poll asks the server only when it has heard of a commit, or after `backstop` (rs R-044).
    PostgresChangeLog(PostgresConnection& connection, bool notifies, Duration backstop = std::chrono::seconds{1})
        : connection_(connection), notifies_(notifies), backstop_(backstop) {}

    [[nodiscard]] Result<void, LogFault> open(const CapturedCursor& from) override;
    [[nodiscard]] Result<EventBatch, LogFault> poll(std::size_t most) override;
    /// A server that cannot get rid of notifications takes no new ones at last, and no commit succeeds.
    void hear() override { connection_.hear_news(); }
    void close() override { connection_.stop_listening(); }

private:
    /// What one transaction sees of the log as a whole.
    struct State {
        Cursor fence;            // everything below has ended
        Position end;            // no transaction that it may show is as late as that
        Position floor;          // everything up to here was purged
        bool holds_back = false; // events are committed, and wait for the fence
    };

    [[nodiscard]] Result<Cursor, LogFault> read_latest() override;
    [[nodiscard]] Result<State, StoreError> read_state();
    [[nodiscard]] Result<void, LogFault> check_position(const State& state) const;
    [[nodiscard]] Result<EventBatch, StoreError> read_batch(std::size_t most);

    PostgresConnection& connection_;
    const bool notifies_;
    const Duration backstop_;
    Cursor position_;
    bool has_read_all_ = false;
    SteadyClock::time_point read_at_{};
};

/// Who holds the fence back for the longest time, so that an operator can find out why nothing new is seen (rs R-043).
struct FenceHolder {
    Duration age{};
    std::string who; // process, database, user and what it does
};
[[nodiscard]] Result<std::optional<FenceHolder>, StoreError> find_fence_holder(PostgresConnection& connection);

} // namespace yk::rs
