// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of the change log of a database of PostgreSQL is kept, for those who read it late.

#include <optional>

#include "protocol/databases/housekeeping/log_retention.h"
#include "protocol/databases/postgres/postgres_connection.h"

namespace yk::mcs {

/// Removes a chunk of events that are older than they are kept, or too many, as rs::purge_old() does in SQLite. Numbers
/// that rolled back count as events, so fewer than most_rows may be kept.
[[nodiscard]] Result<rs::PurgeReport, rs::StoreError>
purge_old(rs::PostgresConnection& connection, const rs::LogRetention& retention, std::optional<rs::Position> relayed);

} // namespace yk::mcs
