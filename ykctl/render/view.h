#pragma once
// TableView: what somebody wants to see of a list, whatever the list: --columns, --sort-by, --no-headers.

#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "ykctl/render/output.h"

namespace yk::cli {

struct TableView {
    std::vector<std::string> columns; // names, in order; empty: those of the format
    std::string sort_by;              // the name of a column; empty: as the list comes
    bool descending = false;
    bool headers = true;
};

/// The name of a column for --columns and --sort-by: `last-reason` for LAST REASON.
[[nodiscard]] std::string column_name(const Heading& heading);

/// Sorts the items and picks the columns. Errors name the columns there are.
[[nodiscard]] Result<void> apply_view(const TableView& view, std::vector<wire::Value>& items, ListLayout& layout);

/// Whether `a` comes before `b`: text, with the numbers in it compared as numbers (n-2 before n-10).
[[nodiscard]] bool naturally_before(const std::string& a, const std::string& b);

/// What a resource is sorted by: memory, then vcore, then all others together.
[[nodiscard]] SortKey resource_key(const wire::Value& resource);

} // namespace yk::cli
