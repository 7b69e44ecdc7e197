// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/database_place.h"

#include "ykd/process/state_files.h"

#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_session.h"
#endif

namespace yk::service {

Result<void> check_database_place(const DatabaseSettings& settings, const std::string& state_directory) {
    const bool is_in_it = sqlite_path(settings.url, state_directory).starts_with(state_directory + "/");
    if (state_directory.empty() || !is_in_it) return {};
    return check_own_directory(state_directory, "the database of deployments");
}

DatabasePlace database_place(const DatabaseSettings& settings, const std::string& state_directory) {
    const std::string& url = settings.url;
    if (!is_postgres(url)) {
        const std::string path = sqlite_path(url, state_directory);
        return {DatabasePlace::Kind::Sqlite, path, path, settings};
    }
#ifdef YK_WITH_PG
    return {DatabasePlace::Kind::Postgres, url, rs::shown_address(url), settings};
#else
    return {DatabasePlace::Kind::Postgres, url, "postgresql://", settings};
#endif
}

} // namespace yk::service
