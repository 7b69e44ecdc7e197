// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names in paths: their percent escapes, and which are names of queues at all. Pure.

#include <optional>
#include <string>
#include <string_view>

namespace yk::service {

/// The text without its percent escapes; nullopt: one of them is none. `plus_is_blank`: as the query of a URL has it.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text, bool plus_is_blank);
/// The text as a part of a path.
[[nodiscard]] std::string escaped_part(std::string_view text);
/// A name that was decoded once, decoded once more as query text, as the original does with names of queues, users and
/// groups; nullopt: it cannot be.
[[nodiscard]] std::optional<std::string> decoded_again(const std::string& name);
/// Whether each part of the path of a queue is a name: at most 64 characters of letters, digits and `-_#@/:`.
[[nodiscard]] bool is_queue_path(const std::string& path);

} // namespace yk::service
