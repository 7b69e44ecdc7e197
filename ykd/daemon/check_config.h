// SPDX-License-Identifier: Apache-2.0
#pragma once
// ykd --check-config: every problem of every file, with its location.

#include <string>
#include <vector>

namespace yk::service {

/// Prints the problems to stderr. Returns the exit code: 0, or 78 when a file is refused.
[[nodiscard]] int check_config(const std::vector<std::string>& files);

} // namespace yk::service
