// SPDX-License-Identifier: Apache-2.0
#pragma once
// Table: aligned columns for a terminal. No cell is blank: an empty one shows a dash.

#include <string>
#include <vector>

#include "ykctl/render/style.h"

namespace yk::cli {

enum class Align { Left, Right };

struct Heading {
    std::string text;
    Align align = Align::Left;
    int rank = 0;           // where a line would be too long, columns of the least rank go first, of those the last
    bool is_wanted = false; // by the user: it never goes
};

class Table {
public:
    explicit Table(std::vector<Heading> headings) : headings_(std::move(headings)) {}

    /// Adds a row with a cell per heading. Cells may contain colour codes, which have no width.
    void add(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// The table as text: two blanks between columns, none at the end of a line, a newline after each line. To fit into
    /// the columns of the style the last column is made narrower, columns are left out, and what is wider is cut.
    [[nodiscard]] std::string text(const Style& style, bool headers = true);
    /// The rows with the columns and widths of the last text(). A wider cell moves the rest of its row to the right, or
    /// is cut where lines have to fit.
    [[nodiscard]] std::string more_text() const;
    /// Removes the rows.
    void clear() { rows_.clear(); }

private:
    template <class CellAt>
    [[nodiscard]] std::string line(CellAt&& cell_at) const;
    void fit(const Style& style);
    [[nodiscard]] std::size_t width() const;

    std::vector<Heading> headings_;
    std::vector<std::vector<std::string>> rows_;
    std::vector<std::size_t> widths_;
    std::vector<std::size_t> shown_; // columns, in order
    bool fits_ = false;              // no line may be longer than the widths say
    std::string ellipsis_;
};

/// Lines of `name: value` with aligned values.
[[nodiscard]] std::string fields_text(const std::vector<std::pair<std::string, std::string>>& fields,
                                      const Style& style);

} // namespace yk::cli
