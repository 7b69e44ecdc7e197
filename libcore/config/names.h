#pragma once
// Which names are legal (C-041, C-090), and texts compared without regard to case.

#include <string>
#include <string_view>

namespace yk::config {

/// Error text of C-041.
inline constexpr std::string_view kInvalidQueueName =
    "invalid queue name, max 64 characters consisting of alphanumeric characters and '-', '_', '#', '@', '/', ':' "
    "allowed";
inline constexpr std::string_view kRecoveryQueue = "@recovery@";

/// C-041: 1 to 64 characters out of `a-z A-Z 0-9 _ : # / @ -`.
[[nodiscard]] bool is_queue_name(std::string_view name);
/// C-090: a letter or `_`, then `a-z A-Z 0-9 : # / _ . @ -`, optionally one `$` at the end.
[[nodiscard]] bool is_user_name(std::string_view name);
/// C-090: a letter or `_`, then `a-z A-Z 0-9 : _ . -`.
[[nodiscard]] bool is_group_name(std::string_view name);
/// C-300: a letter or `_`, then letters, digits or `_`.
[[nodiscard]] bool is_identifier(std::string_view name);

/// ASCII only: the names above hold nothing else.
[[nodiscard]] std::string lower(std::string_view text);

} // namespace yk::config
