// SPDX-License-Identifier: Apache-2.0
#pragma once
// Statements and definitions that are written for SQLite (sql_connection.h), in the words of PostgreSQL. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yk::rs {

/// A statement: places, the time, random uids, and what is between `/*pg` and `*/`.
[[nodiscard]] std::string in_postgres(std::string_view statement);

/// How many places a statement of PostgreSQL has.
[[nodiscard]] std::size_t count_places(std::string_view statement);

/// The definition of tables. Texts are compared by their bytes there, as SQLite and the framework do.
[[nodiscard]] std::string tables_in_postgres(std::string_view definitions);

/// An array of texts as a parameter. One with a zero byte, which no text of PostgreSQL has, is left out.
[[nodiscard]] std::string array_of(const std::vector<std::string_view>& texts);

} // namespace yk::rs
