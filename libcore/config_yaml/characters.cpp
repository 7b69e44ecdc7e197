#include "libcore/config_yaml/characters.h"

#include <fmt/format.h>

#include <array>

namespace yk::config_yaml {

namespace {

struct Form {
    unsigned char mask;
    unsigned char lead;
    char32_t least; // smaller code points written this long are illegal
};

// By length of the sequence, from 1.
constexpr std::array<Form, 4> kForms{{{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}}};

bool is_control(char32_t code) {
    if (code == '\t' || code == '\n' || code == '\r' || code == 0x85) return false;
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xFFFE || code == 0xFFFF;
}

} // namespace

std::pair<std::size_t, char32_t> decode_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t length = 1; length <= kForms.size() && length <= text.size(); ++length) {
        const Form& form = kForms[length - 1];
        if ((byte(0) & form.mask) != form.lead) continue;
        char32_t code = byte(0) & static_cast<unsigned char>(~form.mask);
        for (std::size_t i = 1; i < length; ++i) {
            if ((byte(i) & 0xC0) != 0x80) return {0, 0};
            code = code << 6 | (byte(i) & 0x3F);
        }
        const bool legal = code >= form.least && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
        return {legal ? length : 0, code};
    }
    return {0, 0};
}

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
