// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/wal_checkpoints.h"

namespace yk::rs {

/// Cutting the file keeps all others out. So it is not tried while a reader needs the log, and does not wait for one
/// that comes in between.
Result<std::int64_t, StoreError> WalCheckpoints::run() {
    YK_TRY(copied, connection_.checkpoint(SqliteConnection::Checkpoint::Passive));
    pages_ = copied.pages;
    const std::int64_t needed = copied.pages - copied.copied;
    if (copied.pages <= settings_.truncate_above || needed != 0) return needed;
    YK_CHECKED(connection_.run("PRAGMA busy_timeout = 0"));
    const auto cut = connection_.checkpoint(SqliteConnection::Checkpoint::Truncate);
    if (!cut.ok() && cut.error().fault != StoreFault::Transient) return cut.error();
    return needed;
}

} // namespace yk::rs
