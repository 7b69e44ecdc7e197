// SPDX-License-Identifier: Apache-2.0
#pragma once
// ConfigFiles: the daemon's own configuration files, one per policy group (C-469). A file is read anew each time.
//
// Owner: Daemon. Thread: any.

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "libcore/base/result.h"
#include "ykd/process/daemon_settings.h"

namespace yk::service {

struct ConfigText {
    std::string text;
    std::string source; // the file's name, for messages
};

class ConfigFiles {
public:
    explicit ConfigFiles(const DaemonSettings& settings)
        : by_group_(settings.config_files), default_file_(settings.default_config_file) {}

    /// Reads the file of a policy group. Nothing: the group has none. An error: it cannot be read.
    [[nodiscard]] Result<std::optional<ConfigText>> load(const std::string& policy_group) const;
    /// Notes that a reload begins. It reads the files after this call.
    void note_reload() { ++reloads_; }
    /// How many reloads have begun: a text that was read before the last one may be out of date.
    [[nodiscard]] std::uint64_t reloads() const { return reloads_; }
    /// The path of a policy group's file; empty: it has none.
    [[nodiscard]] const std::string& path_of(const std::string& policy_group) const;
    /// The path of each policy group's file; key `*`: that of all other groups.
    [[nodiscard]] std::map<std::string, std::string> files() const;

private:
    const std::map<std::string, std::string> by_group_;
    const std::string default_file_;
    std::atomic<std::uint64_t> reloads_{0};
};

/// The text of a file. An error: it cannot be read, or has more than 4 MiB.
[[nodiscard]] Result<std::string> read_config_file(const std::string& path);

} // namespace yk::service
