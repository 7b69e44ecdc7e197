// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/table.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/check.h"
#include "ykctl/render/cell.h"
#include "ykctl/render/harmless.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

constexpr std::size_t kGap = 2;

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
    for (const std::size_t column : shown_) {
        if (column != shown_.front()) text += std::string(kGap, ' ');
        const std::string cell = fits_ ? cut_cell(cell_at(column), widths_[column], ellipsis_) : cell_at(column);
        text += padded(cell, widths_[column], headings_[column].align);
    }
    trim_right(text);
    return text;
}

std::size_t Table::width() const {
    std::size_t sum = shown_.empty() ? 0 : kGap * (shown_.size() - 1);
    for (const std::size_t column : shown_) sum += widths_[column];
    return sum;
}

void Table::fit(const Style& style) {
    constexpr std::size_t kLeast = 12; // of a column that is made narrower
    fits_ = style.columns != 0;
    ellipsis_ = style.ellipsis();
    const auto narrow = [&](std::size_t column, std::size_t least) {
        const std::size_t over = width() - std::min(width(), style.columns);
        widths_[column] -= std::min(over, widths_[column] - std::min(widths_[column], least));
    };
    while (fits_ && width() > style.columns) {
        if (headings_[shown_.back()].align == Align::Left) narrow(shown_.back(), kLeast);
        if (width() <= style.columns) return;
        auto leaving = shown_.end(); // the first one never does: it is the name
        for (auto each = shown_.begin() + 1; each < shown_.end(); ++each)
            if (!headings_[*each].is_wanted &&
                (leaving == shown_.end() || headings_[*each].rank <= headings_[*leaving].rank))
                leaving = each;
        if (leaving == shown_.end()) break;
        shown_.erase(leaving);
    }
    for (auto each = shown_.rbegin(); fits_ && each != shown_.rend(); ++each) narrow(*each, 1);
}

std::string Table::text(const Style& style, bool headers) {
    widths_.clear();
    for (std::size_t column = 0; column < headings_.size(); ++column) {
        auto width = headers ? cell_width(headings_[column].text) : 0;
        for (const auto& row : rows_) width = std::max(width, cell_width(row[column]));
        widths_.push_back(width);
    }
    shown_.resize(headings_.size());
    std::iota(shown_.begin(), shown_.end(), std::size_t{0});
    fit(style);
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
