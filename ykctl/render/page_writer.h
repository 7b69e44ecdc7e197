// SPDX-License-Identifier: Apache-2.0
#pragma once
// PageWriter: writes a list page by page, so that memory does not grow with its length.

#include <iosfwd>
#include <optional>
#include <vector>

#include "ykctl/render/output.h"

namespace yk::cli {

/// A list of one page is written as list_text(). A table of several pages has the column widths that the first page
/// needs, and also the columns that are shown only when items differ in them.
class PageWriter {
public:
    PageWriter(std::ostream& out, ListLayout layout, Format format, Style style);
    void add(std::vector<wire::Value> page);
    /// Writes what is left and the end of the list. Nothing may be added afterwards.
    void finish();

private:
    void write(const std::vector<wire::Value>& page);
    void write_rows(const std::vector<wire::Value>& page);

    std::ostream& out_;
    ListLayout layout_;
    Format format_;
    Style style_;
    std::optional<std::vector<wire::Value>> first_; // held back until a second page arrives
    std::optional<ListWriter> list_;                // for several pages: this,
    std::optional<Table> table_;                    // or this
    std::vector<const Column*> shown_;
};

} // namespace yk::cli
