#pragma once
// The state directory (C-469): what SIGUSR1 writes into it (ecosystem.md 5.2).

#include <string>

#include "libcore/base/result.h"

namespace yk::service {

class Daemon;

/// It exists, is a directory, and files can be made in it.
[[nodiscard]] Result<void> check_state_directory(const std::string& directory);

/// `dump-20261120T215042.123Z.json`, of nanoseconds since 1970.
[[nodiscard]] std::string dump_name(std::int64_t unix_nanoseconds);

/// Writes a file of mode 0600 whole or not at all. May wait for the disk.
[[nodiscard]] Result<void> write_state_file(const std::string& directory, const std::string& name,
                                            const std::string& text);

/// Makes a full dump, as `ykctl dump all` shows it, and has a thread of its own write it into the state directory; logs
/// where, or what went wrong. Returns at once. REQUIRES: the settings name a state directory.
void dump_to_state_directory(Daemon& daemon);

} // namespace yk::service
