// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is looked for in a database of mcs by statements, and what mends it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace yk::mcs {

inline constexpr std::string_view kDamaged = "damaged";
inline constexpr std::string_view kMissing = "missing";
inline constexpr std::string_view kTable = "table"; // kMissing of it: a table is gone

/// A thing to look for. The statements are in the words of SqlConnection.
struct CheckRule {
    std::string_view what, table;
    std::string find;                      // gives id and text of each row with it
    std::string mend;                      // of all of them at once; empty: a person has to
    std::vector<std::string_view> needs{}; // tables without which it cannot be looked for
};
/// What is looked for everywhere.
[[nodiscard]] std::span<const CheckRule> common_rules();
/// What is looked for in SQLite beside that.
[[nodiscard]] std::span<const CheckRule> sqlite_rules();
/// And in PostgreSQL.
[[nodiscard]] std::span<const CheckRule> postgres_rules();

} // namespace yk::mcs
