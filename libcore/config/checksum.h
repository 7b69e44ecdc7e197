// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checksum of a configuration text (C-444).

#include <string>
#include <string_view>

namespace yk::config {

/// SHA-256 of `text` without its `checksum: ` entry: 64 upper case hexadecimal digits.
[[nodiscard]] std::string checksum(std::string_view text);

} // namespace yk::config
