// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/relay_state.h"

#include <utility>

#include "libcore/base/number.h"

namespace yk::rs {
namespace {

constexpr std::int64_t kWhole = -1; // the part of the row that has the cursor; its topic is the broker

Result<void, StoreError> done(const Result<bool, StoreError>& step) {
    if (!step.ok()) return step.error();
    return {};
}

} // namespace

Result<Position, StoreError> relayed_up_to(SqlConnection& connection) {
    SqlTransaction transaction{connection, SqlAccess::Read};
    YK_CHECKED(transaction.begun());
    Position relayed;
    std::string epoch;
    {
        SqlStatement row = connection.statement("SELECT cursor, log_epoch FROM relay_state WHERE part = -1");
        YK_TRY(is_there, row.step());
        if (is_there) {
            relayed = Position::parse(row.text(0)).value_or(Position{});
            epoch = row.text(1);
        }
    }
    YK_TRY(head, connection.log_head(SqlAccess::Read));
    YK_CHECKED(transaction.commit());
    return epoch == head.epoch ? relayed : Position{};
}

/// What is held back by transactions that are under way no relay can read (rs R-041).
Result<RelayProgress, StoreError> relay_progress(SqlConnection& connection) {
    YK_TRY(sent, relayed_up_to(connection));
    RelayProgress progress{sent, std::nullopt};
    SqlStatement last = connection.statement("SELECT seq, /*pg xid::text || */ '' FROM change_log"
                                             " /*pg WHERE xid < pg_snapshot_xmin(pg_current_snapshot()) */"
                                             " ORDER BY /*pg xid DESC, */ seq DESC LIMIT 1");
    YK_TRY(has_row, last.step());
    if (!has_row) return progress;
    const auto transaction = to_number<std::uint64_t>(last.text(1)); // nothing in SQLite
    progress.last = Position{transaction.value_or(0), static_cast<std::uint64_t>(last.number(0))};
    return progress;
}

Result<void, StoreError> RelayTable::check_lease() {
    if (!lease_) return {};
    SqlStatement ask =
        connection_.statement("SELECT 1 FROM lease WHERE name = ? AND holder = ? AND epoch = ? /*pg FOR SHARE */");
    ask.bind(1, std::string_view{kRelayLease}).bind(2, std::string_view{lease_->holder});
    YK_TRY(is_mine, ask.bind(3, static_cast<std::int64_t>(lease_->epoch)).step());
    if (!is_mine) return StoreError{StoreFault::Fenced, "another process is the relay"};
    return {};
}

Result<std::optional<RelayState>, StoreError> RelayTable::load(const std::string& broker) {
    saved_.reset();
    SqlTransaction transaction{connection_, SqlAccess::Write}; // the lease is locked while it is looked at
    YK_CHECKED(transaction.begun());
    YK_CHECKED(check_lease());
    RelayState state;
    bool is_there = false;
    {
        SqlStatement rows = connection_.statement("SELECT topic, part, cursor, log_epoch FROM relay_state");
        for (;;) {
            YK_TRY(has_row, rows.step());
            if (!has_row) break;
            const auto at = Position::parse(rows.text(2));
            if (!at) return StoreError{StoreFault::Fatal, "relay_state has '" + rows.text(2) + "' as a cursor"};
            if (rows.number(1) == kWhole) {
                is_there = rows.text(0) == broker;
                state.cursor = {rows.text(3), {*at}};
            } else {
                state.last.emplace(LaneName{rows.text(0), static_cast<std::size_t>(rows.number(1))}, *at);
            }
        }
    }
    YK_CHECKED(transaction.commit());
    if (!is_there) return std::optional<RelayState>{};
    broker_ = broker;
    saved_ = state;
    return std::optional{std::move(state)};
}

/// Of another broker, or another log, nothing stays. Rows that say what they should are left alone.
Result<void, StoreError> RelayTable::save(const std::string& broker, const RelayState& state) {
    SqlTransaction transaction{connection_, SqlAccess::Write};
    YK_CHECKED(transaction.begun());
    YK_CHECKED(check_lease());
    const bool goes_on = saved_ && broker_ == broker && saved_->cursor.epoch == state.cursor.epoch;
    if (!goes_on) {
        SqlStatement remove = connection_.statement("DELETE FROM relay_state");
        YK_CHECKED(done(remove.step()));
    }
    YK_CHECKED(save_row({broker, 0}, kWhole, state.cursor.lanes.at(0).text(), state.cursor.epoch));
    for (const auto& [lane, last] : state.last) {
        if (goes_on) {
            const auto before = saved_->last.find(lane);
            if (before != saved_->last.end() && before->second == last) continue;
        }
        YK_CHECKED(save_row(lane, static_cast<int>(lane.part), last.text(), state.cursor.epoch));
    }
    YK_CHECKED(transaction.commit());
    broker_ = broker;
    saved_ = state;
    return {};
}

Result<void, StoreError> RelayTable::save_row(const LaneName& lane, int part, const std::string& cursor,
                                              const std::string& epoch) {
    SqlStatement insert = connection_.statement("INSERT INTO relay_state(topic, part, cursor, log_epoch)"
                                                " VALUES(?1, ?2, ?3, ?4) ON CONFLICT(topic, part) DO UPDATE"
                                                " SET cursor = excluded.cursor, log_epoch = excluded.log_epoch");
    insert.bind(1, std::string_view{lane.topic}).bind(2, std::int64_t{part});
    insert.bind(3, std::string_view{cursor}).bind(4, std::string_view{epoch});
    return done(insert.step());
}

} // namespace yk::rs
