// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/mcs_leases.h"

#include "protocol/databases/mcs_statements.h"

namespace yk::mcs {

/// The statement is a transaction by itself. It changes the epoch, so that whoever led before is fenced.
LeasePort::Epoch LeaseTable::acquire(const std::string& name) {
    YK_TRY(taken, execute(connection_,
                          "UPDATE lease SET holder = ?2, epoch = epoch + 1, expires_ms = " YK_NOW_MS " + ?3"
                          " WHERE name = ?1 AND (holder IS NULL OR expires_ms < " YK_NOW_MS ")",
                          name, holder_, std::int64_t{ttl_.count()}));
    return epoch_after(taken, name);
}

LeasePort::Epoch LeaseTable::seize(const std::string& name, const LeaseRow& seen) {
    YK_TRY(taken, execute(connection_,
                          "UPDATE lease SET holder = ?2, epoch = epoch + 1, expires_ms = " YK_NOW_MS " + ?3"
                          " WHERE name = ?1 AND holder = ?4 AND epoch = ?5 AND expires_ms = ?6",
                          name, holder_, std::int64_t{ttl_.count()}, seen.holder, static_cast<std::int64_t>(seen.epoch),
                          seen.expires_ms));
    return epoch_after(taken, name);
}

LeasePort::Epoch LeaseTable::epoch_after(std::int64_t taken, const std::string& name) {
    if (taken == 0) return std::optional<std::uint64_t>{};
    rs::SqlStatement select = connection_.statement("SELECT epoch FROM lease WHERE name = ? AND holder = ?");
    YK_TRY(is_mine, select.bind(1, std::string_view{name}).bind(2, std::string_view{holder_}).step());
    if (!is_mine) return std::optional<std::uint64_t>{}; // it ran out and was taken in between
    return std::optional{static_cast<std::uint64_t>(select.number(0))};
}

Result<std::optional<LeaseRow>, rs::StoreError> LeaseTable::look(const std::string& name) {
    rs::SqlStatement select =
        connection_.statement("SELECT holder, epoch, expires_ms, expires_ms - " YK_NOW_MS " FROM lease WHERE name = ?");
    YK_TRY(is_there, select.bind(1, std::string_view{name}).step());
    if (!is_there) return std::optional<LeaseRow>{};
    return std::optional{LeaseRow{select.text(0), static_cast<std::uint64_t>(select.number(1)), select.number(2),
                                  std::chrono::milliseconds{select.number(3)}}};
}

Result<bool, rs::StoreError> LeaseTable::renew(const std::string& name, std::uint64_t epoch) {
    YK_TRY(renewed, execute(connection_,
                            "UPDATE lease SET expires_ms = " YK_NOW_MS " + ?4"
                            " WHERE name = ?1 AND holder = ?2 AND epoch = ?3",
                            name, holder_, static_cast<std::int64_t>(epoch), std::int64_t{ttl_.count()}));
    return renewed != 0;
}

Result<void, rs::StoreError> LeaseTable::release(const std::string& name, std::uint64_t epoch) {
    YK_TRY(released, execute(connection_,
                             "UPDATE lease SET holder = NULL, expires_ms = NULL"
                             " WHERE name = ?1 AND holder = ?2 AND epoch = ?3",
                             name, holder_, static_cast<std::int64_t>(epoch)));
    static_cast<void>(released);
    return {};
}

Result<std::int64_t, rs::StoreError> release_all(rs::SqlConnection& connection) {
    return execute(connection, "UPDATE lease SET holder = NULL, expires_ms = NULL WHERE holder IS NOT NULL");
}

} // namespace yk::mcs
