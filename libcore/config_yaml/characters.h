// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines and characters of a text, and a test for characters that yaml-cpp accepts and should not.

#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/text.h"
#include "libcore/config/config.h"

namespace yk::config_yaml {

struct BadCharacter {
    config::Mark mark;
    std::string what;
};

/// f(code point, its bytes) for each character of `text`; a byte that is not UTF-8 counts as the character of its
/// value.
template <class F>
void for_each_character(std::string_view text, F&& f) {
    while (!text.empty()) {
        auto [length, code] = decode_character(text);
        if (length == 0) {
            length = 1;
            code = static_cast<unsigned char>(text[0]);
        }
        f(code, text.substr(0, length));
        text.remove_prefix(length);
    }
}

/// The first byte sequence that is not UTF-8, or the first control character other than tab and line breaks.
[[nodiscard]] std::optional<BadCharacter> find_bad_character(std::string_view text);

/// Line `number`, from 1, without its line break; empty when the text has fewer lines.
[[nodiscard]] std::string_view line_of(std::string_view text, int number);

} // namespace yk::config_yaml
