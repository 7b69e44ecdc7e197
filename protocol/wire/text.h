// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rules for texts (I-006).

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/base/text.h"

namespace yk::wire {

enum class TextRule : std::uint8_t {
    Id,       // 1 to 256 bytes where not empty, no control characters; also resource names, groups, capabilities
    Queue,    // a queue path, 1024 bytes
    Message,  // a text for people, or without a form, 4 KiB
    TagValue, // 64 KiB
    Config    // configuration text, 4 MiB
};

[[nodiscard]] std::size_t max_bytes(TextRule rule) noexcept;

enum class TextFault : std::uint8_t { None, TooLong, NotUtf8, ControlCharacter };

[[nodiscard]] TextFault check_text(std::string_view text, TextRule rule) noexcept;

/// `key` for the path of an error; `?` when it is not UTF-8, since the error is sent.
[[nodiscard]] inline std::string_view shown_key(std::string_view key) noexcept {
    return is_utf8(key) ? key : "?";
}

} // namespace yk::wire
