// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/jetstream/event_subject.h"

#include <algorithm>

namespace yk::rs {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

bool must_be_encoded(unsigned char letter) {
    return letter <= 0x20 || letter == 0x7f || letter == '.' || letter == '*' || letter == '>' || letter == '%';
}

std::optional<unsigned> value_of(char digit) {
    if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
    if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A') + 10;
    if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
    return std::nullopt;
}

bool is_name_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '-' || letter == '_';
}

} // namespace

std::string percent_encoded(std::string_view id) {
    std::string text;
    for (const char letter : id) {
        const auto byte = static_cast<unsigned char>(letter);
        if (must_be_encoded(byte)) {
            text += '%';
            text += kDigits[byte / 16];
            text += kDigits[byte % 16];
        } else {
            text += letter;
        }
    }
    return text;
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string id;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            id += text[at];
            continue;
        }
        if (at + 2 >= text.size()) return std::nullopt;
        const auto high = value_of(text[at + 1]), low = value_of(text[at + 2]);
        if (!high || !low) return std::nullopt;
        id += static_cast<char>(*high * 16 + *low);
        at += 2;
    }
    return id;
}

bool is_stream_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), is_name_letter);
}

/// Several addresses are divided by commas.
std::string shown_address(std::string_view url) {
    std::string shown;
    for (;;) {
        const auto comma = std::min(url.find(','), url.size());
        const std::string_view one = url.substr(0, comma);
        const auto scheme = one.find("://");
        const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
        const auto at = one.rfind('@');
        shown += one.substr(0, begin);
        shown += one.substr(at == std::string_view::npos ? begin : std::max(at + 1, begin));
        if (comma == url.size()) return shown;
        shown += ',';
        url.remove_prefix(comma + 1);
    }
}

std::optional<SubjectParts> split_subject(std::string_view subject, std::string_view prefix) {
    if (!subject.starts_with(prefix) || subject.size() <= prefix.size() || subject[prefix.size()] != '.')
        return std::nullopt;
    subject.remove_prefix(prefix.size() + 1);
    const auto point = subject.find('.');
    if (point == std::string_view::npos) return std::nullopt;
    return SubjectParts{subject.substr(0, point), subject.substr(point + 1)};
}

} // namespace yk::rs
