// SPDX-License-Identifier: Apache-2.0
#pragma once
// harmless(): the last look at a text before it goes to a terminal. Texts of a daemon are made printable where they are
// used; tables and fields do it once more, for whatever was forgotten.

#include <string>
#include <string_view>

namespace yk::cli {

/// As printable_lines(), but colours (ESC [ ... m) stay.
[[nodiscard]] std::string harmless(std::string_view text);

} // namespace yk::cli
