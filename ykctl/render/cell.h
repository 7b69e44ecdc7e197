// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts with colours on a terminal: how wide they are, and the part of one that fits.

#include <cstddef>
#include <string>
#include <string_view>

namespace yk::cli {

/// The text without colour codes (ESC [ ... m).
[[nodiscard]] std::string without_colours(std::string_view text);
/// The number of columns a text takes; colour codes (ESC [ ... m) take none.
[[nodiscard]] std::size_t cell_width(std::string_view cell);
/// The first part of a text, with its colours, that takes at most `width` columns, the ellipsis included. REQUIRES: the
/// width is not 0.
[[nodiscard]] std::string cut_cell(std::string_view cell, std::size_t width, std::string_view ellipsis);

} // namespace yk::cli
