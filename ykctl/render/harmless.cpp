// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/harmless.h"

#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

constexpr std::string_view kColour = "\x1b[";

/// The length of the colour that the text begins with; 0: it begins with none.
std::size_t colour_length(std::string_view text) {
    if (!text.starts_with(kColour)) return 0;
    const std::size_t end = text.find_first_not_of("0123456789;", kColour.size());
    return end == std::string_view::npos || text[end] != 'm' ? 0 : end + 1;
}

} // namespace

std::string harmless(std::string_view text) {
    std::string made;
    while (!text.empty()) {
        std::size_t next = text.find(kColour);
        while (next != std::string_view::npos && colour_length(text.substr(next)) == 0)
            next = text.find(kColour, next + 1);
        made += printable_lines(text.substr(0, next));
        if (next == std::string_view::npos) break;
        const std::size_t length = colour_length(text.substr(next));
        made += text.substr(next, length);
        text.remove_prefix(next + length);
    }
    return made;
}

} // namespace yk::cli
