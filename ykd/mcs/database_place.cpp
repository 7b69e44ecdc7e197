// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/database_place.h"

#include <algorithm>

#include "ykd/process/daemon_settings.h"

namespace yk::service {
namespace {

/// What stands in front of the host, and behind `?`, may hold a password.
std::string without_secrets(const std::string& url) {
    const std::size_t begin = url.find("//") + 2;
    const std::string rest = url.substr(begin, url.find('?', begin) - begin);
    const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
    return url.substr(0, begin) + (at == std::string::npos ? rest : rest.substr(at + 1));
}

} // namespace

DatabasePlace database_place(const std::string& url, const std::string& state_directory) {
    if (is_postgres(url)) return {DatabasePlace::Kind::Postgres, url, without_secrets(url)};
    const std::string path = sqlite_path(url, state_directory);
    return {DatabasePlace::Kind::Sqlite, path, path};
}

} // namespace yk::service
