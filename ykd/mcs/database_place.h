// SPDX-License-Identifier: Apache-2.0
#pragma once
// DatabasePlace: where the database of MCS is, as mcs.db.url says it.

#include <string>

namespace yk::service {

struct DatabasePlace {
    enum class Kind { Sqlite, Postgres };
    Kind kind = Kind::Sqlite;
    std::string where; // a path, or what libpq connects to
    std::string shown; // for people: without a password
};

/// `url`: `sqlite:PATH`, where a path that is not absolute is one in the state directory, or `postgresql://...`.
[[nodiscard]] DatabasePlace database_place(const std::string& url, const std::string& state_directory);

} // namespace yk::service
