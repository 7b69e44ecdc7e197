#pragma once
// PageWriter: a list that comes in pages, written as it comes, so that its length does not matter.

#include <iosfwd>
#include <optional>
#include <vector>

#include "ykctl/render/output.h"

namespace yk::cli {

/// What it writes of a list of one page is list_text(). A table of more pages has the widths that the first page needs,
/// and the columns that are there when items differ in them.
class PageWriter {
public:
    PageWriter(std::ostream& out, ListLayout layout, Format format, Style style);
    void add(std::vector<wire::Value> page);
    /// REQUIRES: nothing is added afterwards.
    void finish();

private:
    void write(const std::vector<wire::Value>& page);
    void write_rows(const std::vector<wire::Value>& page);

    std::ostream& out_;
    ListLayout layout_;
    Format format_;
    Style style_;
    std::optional<std::vector<wire::Value>> first_; // held back until there is a second one
    std::optional<ListWriter> list_;                // of more than one page: this,
    std::optional<Table> table_;                    // or this
    std::vector<const Column*> shown_;
};

} // namespace yk::cli
