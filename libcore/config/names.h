// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which names are legal (C-041, C-090), and texts compared without regard to case.

#include <string>
#include <string_view>

#include "libcore/base/text.h"

namespace yk::config {

/// The message about a queue name that is not legal (C-041).
inline constexpr std::string_view kInvalidQueueName =
    "invalid queue name, max 64 characters consisting of alphanumeric characters and '-', '_', '#', '@', '/', ':' "
    "allowed";
inline constexpr std::string_view kRecoveryQueue = "@recovery@";

/// 1 to 64 characters out of `a-z A-Z 0-9 _ : # / @ -` (C-041).
[[nodiscard]] bool is_queue_name(std::string_view name);
/// A letter or `_`, then `a-z A-Z 0-9 : # / _ . @ -`, optionally one `$` at the end (C-090).
[[nodiscard]] bool is_user_name(std::string_view name);
/// A letter or `_`, then `a-z A-Z 0-9 : _ . -` (C-090).
[[nodiscard]] bool is_group_name(std::string_view name);
/// A letter or `_`, then letters, digits or `_` (C-300).
[[nodiscard]] bool is_identifier(std::string_view name);

using yk::lower;

} // namespace yk::config
