#pragma once
// Colours and bars: only where a person looks (a terminal, or --color always).

#include <string>
#include <string_view>

namespace yk::cli {

/// What the output may use.
struct Style {
    bool colour = false;
    bool bars = false;

    [[nodiscard]] std::string bold(std::string_view text) const { return wrap("1", text); }
    [[nodiscard]] std::string red(std::string_view text) const { return wrap("31", text); }
    [[nodiscard]] std::string green(std::string_view text) const { return wrap("32", text); }
    [[nodiscard]] std::string yellow(std::string_view text) const { return wrap("33", text); }
    [[nodiscard]] std::string dim(std::string_view text) const { return wrap("2", text); }

private:
    [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const {
        if (!colour) return std::string{text};
        return std::string{"\x1b["} + std::string{code} + "m" + std::string{text} + "\x1b[0m";
    }
};

/// ` 75%`, with bars `███████▌   75%`; a negative share means there is nothing to compare with: `-`.
[[nodiscard]] std::string usage_text(double share, const Style& style);

} // namespace yk::cli
