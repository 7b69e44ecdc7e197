#pragma once
// The daemon's own configuration files, one per policy group (C-469). Read anew each time.

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "libcore/base/result.h"
#include "ykd/service/daemon_settings.h"

namespace yk::service {

struct ConfigText {
    std::string text;
    std::string source; // the file's name, for messages
};

class ConfigFiles {
public:
    explicit ConfigFiles(const DaemonSettings& settings)
        : by_group_(settings.config_files), default_file_(settings.default_config_file) {}

    /// The file of a policy group; nothing when there is none. Error: it cannot be read.
    [[nodiscard]] Result<std::optional<ConfigText>> load(const std::string& policy_group) const;
    /// A reload begins, which reads the files after this.
    void note_reload() { ++reloads_; }
    /// How many have begun: what was read before the last one may be out of date.
    [[nodiscard]] std::uint64_t reloads() const { return reloads_; }
    /// The path of that file; empty when there is none.
    [[nodiscard]] const std::string& path_of(const std::string& policy_group) const;
    /// policy group -> file; `*` names that of all others.
    [[nodiscard]] std::map<std::string, std::string> files() const;

private:
    const std::map<std::string, std::string> by_group_;
    const std::string default_file_;
    std::atomic<std::uint64_t> reloads_{0};
};

/// The text of a file of at most 4 MiB.
[[nodiscard]] Result<std::string> read_config_file(const std::string& path);

} // namespace yk::service
