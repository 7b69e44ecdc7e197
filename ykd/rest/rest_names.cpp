// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_names.h"

#include <algorithm>

#include "libcore/config/names.h"

namespace yk::service {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

} // namespace

std::optional<std::string> unescaped(std::string_view text, bool plus_is_blank) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_blank) {
            plain += ' ';
        } else if (text[i] == '%') {
            const int high = i + 1 < text.size() ? digit_of(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            plain += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

std::string escaped_part(std::string_view text) {
    constexpr std::string_view kPlain = "-_.~$&+:=@"; // as Go leaves them
    std::string escaped;
    for (const char c : text) {
        if (is_alphanumeric(c) || kPlain.find(c) != std::string_view::npos) {
            escaped += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        escaped += '%';
        escaped += kHex[byte >> 4U];
        escaped += kHex[byte & 15U];
    }
    return escaped;
}

std::optional<std::string> decoded_again(const std::string& name) {
    return unescaped(name, true);
}

bool is_queue_path(const std::string& path) {
    for (std::size_t begin = 0;;) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        if (!config::is_queue_name(std::string_view(path).substr(begin, end - begin))) return false;
        if (end == path.size()) return true;
        begin = end + 1;
    }
}

} // namespace yk::service
