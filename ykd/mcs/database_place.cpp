// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/database_place.h"

#include "ykd/process/daemon_settings.h"
#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_session.h"
#endif

namespace yk::service {

DatabasePlace database_place(const std::string& url, const std::string& state_directory) {
    if (!is_postgres(url)) {
        const std::string path = sqlite_path(url, state_directory);
        return {DatabasePlace::Kind::Sqlite, path, path};
    }
#ifdef YK_WITH_PG
    return {DatabasePlace::Kind::Postgres, url, rs::shown_address(url)};
#else
    return {DatabasePlace::Kind::Postgres, url, "postgresql://"};
#endif
}

} // namespace yk::service
