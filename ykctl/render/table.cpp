// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/table.h"

#include <algorithm>

#include "libcore/base/check.h"
#include "ykctl/render/harmless.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

constexpr std::size_t kGap = 2;

/// The width on the screen, where colour codes (ESC [ ... m) have none.
std::size_t cell_width(std::string_view cell) {
    std::string shown;
    for (std::size_t i = 0; i < cell.size(); ++i) {
        if (cell[i] == '\x1b') {
            i = std::min(cell.find('m', i), cell.size() - 1);
            continue;
        }
        shown += cell[i];
    }
    return display_width(shown);
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
    const auto shown = cell_width(cell);
    const std::string blanks(width > shown ? width - shown : 0, ' ');
    return align == Align::Right ? blanks + cell : cell + blanks;
}

void trim_right(std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
}

} // namespace

void Table::add(std::vector<std::string> cells) {
    YK_CHECK(cells.size() == headings_.size(), "a row has a cell for each heading");
    for (auto& cell : cells) cell = or_dash(harmless(cell));
    rows_.push_back(std::move(cells));
}

template <class CellAt>
std::string Table::line(CellAt&& cell_at) const {
    std::string text;
    for (std::size_t column = 0; column < headings_.size(); ++column) {
        if (column > 0) text += std::string(kGap, ' ');
        text += padded(cell_at(column), widths_[column], headings_[column].align);
    }
    trim_right(text);
    return text;
}

std::string Table::text(const Style& style, bool headers) {
    widths_.clear();
    for (std::size_t column = 0; column < headings_.size(); ++column) {
        auto width = headers ? cell_width(headings_[column].text) : 0;
        for (const auto& row : rows_) width = std::max(width, cell_width(row[column]));
        widths_.push_back(width);
    }
    std::string all;
    if (headers) all = style.bold(line([&](std::size_t column) { return headings_[column].text; })) + "\n";
    return all + more_text();
}

std::string Table::more_text() const {
    std::string all;
    for (const auto& row : rows_) all += line([&](std::size_t column) { return row[column]; }) + "\n";
    return all;
}

std::string fields_text(const std::vector<std::pair<std::string, std::string>>& fields, const Style& style) {
    std::size_t width = 0;
    for (const auto& [name, value] : fields) width = std::max(width, display_width(name));
    std::string text;
    for (const auto& [name, value] : fields) {
        text += style.bold(printable(name) + ":") + std::string(width - display_width(name) + kGap, ' ') +
                or_dash(harmless(value)) + "\n";
    }
    return text;
}

} // namespace yk::cli
