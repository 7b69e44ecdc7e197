// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of mcs in a database of PostgreSQL, which migrate() makes and brings up to date; and the purge of their
// change log.

#include <cstdint>
#include <span>
#include <string>

#include "protocol/databases/mcs_schema.h"
#include "protocol/databases/postgres/postgres_connection.h"

namespace yk::mcs {

/// What each version of the schema adds to the one before it, as schema_steps().
[[nodiscard]] std::span<const std::string> postgres_steps();

/// Removes events up to a position, at most so many, and notes how far in the same transaction. What is not visible to
/// whoever consumes the log stays, whatever the position. Returns how many.
inline constexpr std::int64_t kPurgedTogether = 5000;
[[nodiscard]] Result<std::int64_t, rs::StoreError>
purge_log(rs::PostgresConnection& connection, const rs::Position& up_to, std::int64_t most = kPurgedTogether);

} // namespace yk::mcs
