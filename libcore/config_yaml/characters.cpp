// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/characters.h"

#include <fmt/format.h>

namespace yk::config_yaml {

namespace {

bool is_control(char32_t code) {
    if (code == '\t' || code == '\n' || code == '\r' || code == 0x85) return false;
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xFFFE || code == 0xFFFF;
}

} // namespace

std::optional<BadCharacter> find_bad_character(std::string_view text) {
    config::Mark mark{1, 1};
    while (!text.empty()) {
        const auto [length, code] = decode_character(text);
        if (length == 0)
            return BadCharacter{mark, fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(text[0]))};
        if (is_control(code))
            return BadCharacter{
                mark, fmt::format("control characters are not allowed (U+{:04X})", static_cast<std::uint32_t>(code))};
        text.remove_prefix(length);
        mark = code == '\n' ? config::Mark{mark.line + 1, 1}
                            : config::Mark{mark.line, mark.column + static_cast<int>(length)};
    }
    return std::nullopt;
}

std::string_view line_of(std::string_view text, int number) {
    if (number < 1) return {};
    for (int line = 1; line < number; ++line) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    return text;
}

} // namespace yk::config_yaml
