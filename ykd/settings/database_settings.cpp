// SPDX-License-Identifier: Apache-2.0
#include "ykd/settings/database_settings.h"

#include <algorithm>
#include <array>

namespace yk::service {

bool is_postgres(const std::string& url) {
    return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

std::string sqlite_path(const std::string& url, const std::string& state_directory) {
    constexpr std::string_view kScheme = "sqlite:";
    if (!url.starts_with(kScheme) || url.size() == kScheme.size()) return {};
    const std::string path = url.substr(kScheme.size());
    return path.front() == '/' ? path : state_directory + "/" + path;
}

bool is_database_key(std::string_view path) {
    return path.starts_with("mcs.db.") || path.starts_with("mcs.pg.");
}

std::vector<KeyFault> check_database_settings(const DatabaseSettings& settings, const std::vector<std::string>& keys) {
    constexpr std::array<std::string_view, 2> kOfSqlite{"mcs.db.synchronous", "mcs.db.busyTimeout"};
    constexpr std::array<std::string_view, 2> kOfPostgres{"mcs.db.statementTimeout", "mcs.pg.notify"};
    const bool with_postgres = is_postgres(settings.url);
    const auto& idle = with_postgres ? kOfSqlite : kOfPostgres;
    std::vector<KeyFault> faults;
    for (const std::string& key : keys)
        if (std::find(idle.begin(), idle.end(), key) != idle.end())
            faults.push_back({key, key + ": has no effect on " + (with_postgres ? "PostgreSQL" : "SQLite") +
                                       ", which mcs.db.url names"});
    return faults;
}

} // namespace yk::service
