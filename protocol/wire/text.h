#pragma once
// The rules for texts (I-006).

#include <cstdint>
#include <string>
#include <string_view>

namespace yk::wire {

enum class TextRule : std::uint8_t {
    Id,       // 1 to 256 bytes where not empty, no control characters; also resource names, groups, capabilities
    Queue,    // a queue path, 1024 bytes
    Message,  // for people or free, 4 KiB
    TagValue, // 64 KiB
    Config    // configuration text, 4 MiB
};

[[nodiscard]] std::size_t max_bytes(TextRule rule) noexcept;

enum class TextFault : std::uint8_t { None, TooLong, NotUtf8, ControlCharacter };

[[nodiscard]] TextFault check_text(std::string_view text, TextRule rule) noexcept;
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// `key` for an error's path; `?` when it is not UTF-8, because errors are sent.
[[nodiscard]] inline std::string_view shown_key(std::string_view key) noexcept {
    return is_utf8(key) ? key : "?";
}

} // namespace yk::wire
