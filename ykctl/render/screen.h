// SPDX-License-Identifier: Apache-2.0
#pragma once
// What fits on one screen of a terminal.

#include <cstddef>
#include <string>
#include <string_view>

#include "ykctl/render/style.h"

namespace yk::cli {

struct TerminalSize {
    std::size_t columns = 0, rows = 0; // 0: it does not say, and has as many as are needed
};

/// The part of a text that a terminal shows without scrolling: no line is longer than it is wide, and where there are
/// more lines than it has, the last one says how many more.
[[nodiscard]] std::string screen_text(std::string_view text, const TerminalSize& size, const Style& style);

/// The text with lines that are longer than `columns` broken between words, what follows being indented; 0: as it is.
[[nodiscard]] std::string wrapped_text(std::string_view text, std::size_t columns);

} // namespace yk::cli
