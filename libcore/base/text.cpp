// SPDX-License-Identifier: Apache-2.0
#include "libcore/base/text.h"

#include <algorithm>
#include <array>

#include "libcore/base/check.h"

namespace yk {

namespace {

struct Form {
    unsigned char mask;
    unsigned char lead;
    char32_t least; // smaller code points written this long are illegal
};

// By length of the sequence, from 1.
constexpr std::array<Form, 4> kForms{{{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}}};

bool is_plain(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7f'; });
}

std::string hexadecimal(char32_t code) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    return {kDigits[code >> 12 & 15], kDigits[code >> 8 & 15], kDigits[code >> 4 & 15], kDigits[code & 15]};
}

/// `text` with mask(code) in place of each terminal command; line feeds stay if `keeps_lines`.
template <class Mask>
std::string masked(std::string_view text, bool keeps_lines, const Mask& mask) {
    if (is_plain(text)) return std::string{text};
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const auto [length, code] = decode_character(text);
        if (length == 0)
            shown += '?';
        else if (is_terminal_command(code) && !(keeps_lines && code == '\n'))
            shown += mask(code);
        else
            shown += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return shown;
}

} // namespace

std::pair<std::size_t, char32_t> decode_character(std::string_view text) noexcept {
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

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = decode_character(text).first;
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string lower(std::string_view text) {
    std::string result{text};
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

std::string_view cut(std::string_view text, std::size_t max) noexcept {
    if (text.size() <= max) return text;
    std::size_t end = max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end);
}

std::string shortened(std::string_view text, std::size_t max) {
    constexpr std::string_view kMissing = "...";
    YK_ASSUME(max >= kMissing.size(), "there must be space for the dots");
    if (text.size() <= max) return std::string{text};
    return std::string{cut(text, max - kMissing.size())}.append(kMissing);
}

bool is_terminal_command(char32_t code) noexcept {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

std::string printable(std::string_view text) {
    return masked(text, false, [](char32_t) { return '?'; });
}

std::string printable_lines(std::string_view text) {
    return masked(text, true, [](char32_t) { return '?'; });
}

std::string escaped_lines(std::string_view text, std::string_view before) {
    return masked(text, true, [before](char32_t code) { return std::string{before} + hexadecimal(code); });
}

} // namespace yk
