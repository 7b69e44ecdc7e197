// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/cell.h"

#include <algorithm>

#include "ykctl/render/text.h"

namespace yk::cli {

std::string without_colours(std::string_view text) {
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b') {
            i = std::min(text.find('m', i), text.size() - 1);
            continue;
        }
        shown += text[i];
    }
    return shown;
}

std::size_t cell_width(std::string_view cell) {
    return display_width(without_colours(cell));
}

std::string cut_cell(std::string_view cell, std::size_t width, std::string_view ellipsis) {
    if (cell_width(cell) <= width) return std::string{cell};
    std::string part;
    std::size_t used = 0;
    bool is_cut = false;
    for (std::string_view left = cell; !left.empty();) {
        if (left.front() == '\x1b') {
            const std::size_t code = std::min(left.find('m'), left.size() - 1) + 1;
            part += left.substr(0, code); // also of what is cut off: it ends the colour
            left.remove_prefix(code);
            continue;
        }
        const auto next = take_character(left);
        if (is_cut) continue;
        used += next.width;
        is_cut = used >= width;
        part += is_cut ? ellipsis : next.bytes;
    }
    return part;
}

} // namespace yk::cli
