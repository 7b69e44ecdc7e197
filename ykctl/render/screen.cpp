// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/screen.h"

#include <algorithm>

#include <fmt/format.h>

#include "ykctl/render/cell.h"

namespace yk::cli {

std::string screen_text(std::string_view text, const TerminalSize& size, const Style& style) {
    const std::string_view ellipsis = style.ellipsis();
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    const bool fits = size.rows == 0 || lines < size.rows;
    const std::size_t shown = fits ? lines : size.rows - 1;
    std::string screen;
    for (std::size_t i = 0; i < shown; ++i) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(line.size() + 1);
        screen += size.columns == 0 ? std::string{line} : cut_cell(line, size.columns, ellipsis);
        screen += '\n';
    }
    if (fits) return screen.append(text);
    const std::string rest = fmt::format("{} {} more lines", style.is_ascii ? "..." : ellipsis, lines - shown);
    return screen + (size.columns == 0 ? rest : cut_cell(rest, size.columns, ellipsis));
}

namespace {

/// The blank before which a line is broken so that the part before it fits into `columns`, or has one word; npos: there
/// is none behind its `indent`.
std::size_t break_of(std::string_view line, std::size_t indent, std::size_t columns) {
    std::size_t found = std::string_view::npos;
    for (auto blank = line.find(' ', indent); blank != std::string_view::npos; blank = line.find(' ', blank + 1)) {
        if (line[blank - (blank > 0 ? 1 : 0)] == ' ') continue; // of several the first one
        if (found != std::string_view::npos && cell_width(line.substr(0, blank)) > columns) break;
        found = blank;
    }
    return found;
}

} // namespace

std::string wrapped_text(std::string_view text, std::size_t columns) {
    constexpr std::size_t kContinued = 4; // blanks before what continues a line
    if (columns == 0) return std::string{text};
    std::string wrapped;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string line{text.substr(0, end)};
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size()) + kContinued;
        while (cell_width(line) > columns) {
            const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
            const std::size_t at = break_of(line, blanks, columns);
            if (at == std::string::npos) break; // a word that is wider than the terminal
            const std::size_t next = std::min(line.find_first_not_of(' ', at), line.size());
            wrapped += line.substr(0, at) + '\n';
            line = std::string(indent, ' ') + line.substr(next);
        }
        wrapped += line + '\n';
    }
    return wrapped;
}

} // namespace yk::cli
