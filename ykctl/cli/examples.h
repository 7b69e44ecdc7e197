// SPDX-License-Identifier: Apache-2.0
#pragma once
// The example at the end of each --help.

#include <string_view>

namespace yk::cli {

/// A use of the command at a path, without the program's name: for `node add`, `node add n-1 -R memory=64Gi,vcore=16`.
/// Empty when there is none.
[[nodiscard]] std::string_view example_of(std::string_view path);

} // namespace yk::cli
