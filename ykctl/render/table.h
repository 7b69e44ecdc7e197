#pragma once
// Table: aligned columns for a terminal. No cell is ever blank: nothing is a dash.

#include <string>
#include <vector>

#include "ykctl/render/style.h"

namespace yk::cli {

enum class Align { Left, Right };

struct Heading {
    std::string text;
    Align align = Align::Left;
};

class Table {
public:
    explicit Table(std::vector<Heading> headings) : headings_(std::move(headings)) {}

    /// REQUIRES: as many cells as headings. Cells may hold colour codes, which take no room.
    void add(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// Two blanks between columns, none at the end of a line, a newline after each.
    [[nodiscard]] std::string text(const Style& style, bool headers = true);
    /// The rows with the widths of the last text(); cells that are wider move the rest of their row.
    [[nodiscard]] std::string more_text() const;
    /// Takes the rows out.
    void clear() { rows_.clear(); }

private:
    template <class CellAt>
    [[nodiscard]] std::string line(CellAt&& cell_at) const;

    std::vector<Heading> headings_;
    std::vector<std::vector<std::string>> rows_;
    std::vector<std::size_t> widths_;
};

/// Lines of `name: value` with the values below each other.
[[nodiscard]] std::string fields_text(const std::vector<std::pair<std::string, std::string>>& fields,
                                      const Style& style);

} // namespace yk::cli
