// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/mcs_leases.h"

#include "protocol/databases/mcs_statements.h"

namespace yk::mcs {

/// The statement is a transaction by itself. It changes the epoch, so that whoever led before is fenced.
Result<std::optional<std::uint64_t>, rs::StoreError> LeaseTable::acquire(const std::string& name) {
    YK_TRY(taken, execute(connection_,
                          "UPDATE lease SET holder = ?2, epoch = epoch + 1, expires_ms = " YK_NOW_MS " + ?3"
                          " WHERE name = ?1 AND (holder IS NULL OR expires_ms < " YK_NOW_MS ")",
                          name, holder_, std::int64_t{ttl_.count()}));
    if (taken == 0) return std::optional<std::uint64_t>{};
    rs::SqliteStatement select = connection_.statement("SELECT epoch FROM lease WHERE name = ? AND holder = ?");
    YK_TRY(is_mine, select.bind(1, std::string_view{name}).bind(2, std::string_view{holder_}).step());
    if (!is_mine) return std::optional<std::uint64_t>{}; // it ran out and was taken in between
    return std::optional{static_cast<std::uint64_t>(select.number(0))};
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

} // namespace yk::mcs
