// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rows of a change log, as events: the same in every database, but for what a position is made of.

#include <cstddef>
#include <cstdint>

#include "libcore/resource_state/ports/change_log.h"
#include "protocol/databases/sql_connection.h"

namespace yk::rs {

/// The rows of `tail`, which has the columns seq, kind, op, id, uid and version first, and returns at most `most` rows
/// behind `from` in the order of the log. `transaction`: that of a row's position, 0 where positions have none.
[[nodiscard]] Result<EventBatch, StoreError> read_changes(SqlStatement& tail, const Cursor& from, std::size_t most,
                                                          std::uint64_t (*transaction)(const SqlRow& row));

} // namespace yk::rs
