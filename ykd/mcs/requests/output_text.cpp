// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/output_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "libcore/base/text.h"

namespace yk::service {
namespace {

/// Whether more bytes may make a character of what does not end yet.
bool may_go_on(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t bytes = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : first >= 0xC2U ? 2 : 1;
    return first < 0xF5U && text.size() < bytes && std::all_of(text.begin() + 1, text.end(), [](char each) {
               return (static_cast<unsigned char>(each) & 0xC0U) == 0x80U;
           });
}

} // namespace

std::string output_text(std::string bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const std::string_view rest = std::string_view{bytes}.substr(at);
        const std::size_t size = decode_character(rest).first; // 0: none begins here, or not all of it is there
        if (size == 0 && may_go_on(rest)) {
            bytes.resize(at);
            break;
        }
        if (size == 0) bytes[at] = '?';
        at += std::max<std::size_t>(size, 1);
    }
    return bytes;
}

} // namespace yk::service
