#pragma once
// ykd --check-config: every problem of every file, with its place.

#include <string>
#include <vector>

namespace yk::service {

/// Prints the problems to stderr; returns 0 or 78.
[[nodiscard]] int check_config(const std::vector<std::string>& files);

} // namespace yk::service
