// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts in UTF-8: where a character ends, what may be cut off, and what may be shown on a terminal. One answer for the
// wire, the configuration, the log and ykctl.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace yk {

/// The length in bytes and the code point of the character that begins `text`; length 0 when it is not UTF-8,
/// or `text` is empty.
[[nodiscard]] std::pair<std::size_t, char32_t> decode_character(std::string_view text) noexcept;

/// Whether all of it is UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// In lower case. ASCII only: names of queues, users and groups hold nothing else.
[[nodiscard]] std::string lower(std::string_view text);

/// At most the first `max` bytes of `text`, cut between two characters.
[[nodiscard]] std::string_view cut(std::string_view text, std::size_t max) noexcept;
/// As cut(), with `...` at the end, within `max` bytes, when something is missing.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t max);

/// What a terminal obeys instead of showing it: control characters (C0, DEL, C1), and the marks that turn the direction
/// of what follows (U+202A to U+202E, U+2066 to U+2069).
[[nodiscard]] bool is_terminal_command(char32_t code) noexcept;
/// One line that can be shown anywhere: UTF-8 in which each terminal command, and each byte that is not UTF-8, is `?`.
[[nodiscard]] std::string printable(std::string_view text);
/// As printable(), with the line feeds.
[[nodiscard]] std::string printable_lines(std::string_view text);
/// As printable_lines(), but nothing is lost: `before` and four hexadecimal digits stand for a terminal command.
/// With `\u` as `before` a JSON text keeps its meaning.
[[nodiscard]] std::string escaped_lines(std::string_view text, std::string_view before);

} // namespace yk
