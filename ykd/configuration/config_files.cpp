// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/config_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace yk::service {
namespace {

constexpr std::size_t kMaxText = 4U << 20; // bytes; as for a text in a request (I-316)

} // namespace

Result<std::string> read_config_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error::at(path, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    std::string text(kMaxText + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxText) return Error::at(path, fmt::format("{} has more than 4 MiB", path));
    if (file.bad()) return Error::at(path, fmt::format("cannot read {}", path));
    return text;
}

Result<std::optional<ConfigText>> ConfigFiles::load(const std::string& policy_group) const {
    const std::string& path = path_of(policy_group);
    if (path.empty()) return std::optional<ConfigText>{};
    YK_TRY(text, read_config_file(path));
    return std::optional<ConfigText>(ConfigText{std::move(text), path});
}

const std::string& ConfigFiles::path_of(const std::string& policy_group) const {
    const auto found = by_group_.find(policy_group);
    return found != by_group_.end() ? found->second : default_file_;
}

std::map<std::string, std::string> ConfigFiles::files() const {
    std::map<std::string, std::string> files = by_group_;
    if (!default_file_.empty()) files["*"] = default_file_;
    return files;
}

} // namespace yk::service
