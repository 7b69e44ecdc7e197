// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/housekeeping/wal_checkpoints.h"

namespace yk::rs {

/// Cutting the file keeps all others out, so it is not tried while a reader needs much of the log.
Result<std::int64_t, StoreError> WalCheckpoints::run() {
    YK_TRY(copied, connection_.checkpoint(SqliteConnection::Checkpoint::Passive));
    pages_ = copied.pages;
    const std::int64_t needed = copied.pages - copied.copied;
    if (copied.pages <= settings_.truncate_above || needed > most_left()) return needed;
    const auto cut = connection_.checkpoint(SqliteConnection::Checkpoint::Truncate);
    if (cut.ok()) return pages_ = 0;
    if (cut.error().fault != StoreFault::Transient) return cut.error();
    return needed;
}

} // namespace yk::rs
