// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/database_place.h"

#include <filesystem>
#include <system_error>

#include "ykd/process/state_files.h"

#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_session.h"
#endif

namespace yk::service {

Result<void> check_database_place(const DatabaseSettings& settings, const std::string& state_directory) {
    namespace fs = std::filesystem;
    const std::string file = sqlite_path(settings.url, state_directory);
    if (state_directory.empty() || file.empty()) return {};
    std::error_code error;
    fs::path folder = fs::weakly_canonical(state_directory, error);
    const fs::path way = fs::weakly_canonical(fs::path{file}.parent_path(), error).lexically_relative(folder);
    if (way.empty() || *way.begin() == "..") return {};
    constexpr const char* kWhat = "the database of deployments";
    YK_CHECKED(check_own_directory(state_directory, kWhat));
    for (const fs::path& part : way) {
        folder /= part;
        if (part != "." && fs::exists(folder, error)) YK_CHECKED(check_own_directory(folder.string(), kWhat));
    }
    return {};
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
