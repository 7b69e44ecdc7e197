// SPDX-License-Identifier: Apache-2.0
#pragma once
// Colours and bars, for output that a person reads: on a terminal, or with --color always.

#include <cstddef>
#include <string>
#include <string_view>

namespace yk::cli {

/// Of a narrower terminal the columns are needed for numbers, and not for bars.
inline constexpr std::size_t kLeastForBars = 100;

/// What the output may contain.
struct Style {
    bool colour = false;
    bool bars = false;
    bool is_ascii = false;   // the terminal shows nothing else
    std::size_t columns = 0; // lines of tables are no longer than that; 0: they may be

    /// What stands at the end of a text that is cut.
    [[nodiscard]] std::string_view ellipsis() const { return is_ascii ? "~" : "\u2026"; }

    [[nodiscard]] std::string bold(std::string_view text) const { return wrap("1", text); }
    [[nodiscard]] std::string red(std::string_view text) const { return wrap("31", text); }
    [[nodiscard]] std::string green(std::string_view text) const { return wrap("32", text); }
    [[nodiscard]] std::string yellow(std::string_view text) const { return wrap("33", text); }

private:
    [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const {
        if (!colour) return std::string{text};
        return std::string{"\x1b["} + std::string{code} + "m" + std::string{text} + "\x1b[0m";
    }
};

/// A share as ` 75%`, with bars as `███████▌   75%`; `-` for a negative share, which means that there is nothing to
/// compare with.
[[nodiscard]] std::string usage_text(double share, const Style& style);

} // namespace yk::cli
