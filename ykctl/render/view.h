#pragma once
// TableView: what somebody wants to see of a list, whatever the list: --columns, --sort-by, --no-headers.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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

/// The items of a list in the order of a column, equals as they came. Until then each is kept as msgpack, which is a
/// tenth of the value: a million asks fit into any machine.
class SortedItems {
public:
    SortedItems(Column by, bool descending) : by_(std::move(by)), descending_(descending) {}
    void add(const std::vector<wire::Value>& items);
    /// All of them in order, in pages of at most `most`; none is left. Pages, for the first says how wide a table is.
    void take(std::size_t most, const std::function<void(std::vector<wire::Value>)>& page);

private:
    struct Item {
        SortKey key;
        std::string text; // of the cell, when there is no key
        std::vector<std::uint8_t> packed;

        [[nodiscard]] bool is_before(const Item& other) const;
    };

    const Column by_;
    const bool descending_;
    std::vector<Item> items_;
};

/// What --sort-by asks for; empty: nothing, or the list has no columns. Errors name the columns there are.
[[nodiscard]] Result<std::optional<SortedItems>> order_of(const TableView& view, const ListLayout& layout);

/// The columns of --columns, and --no-headers. Errors name the columns there are.
[[nodiscard]] Result<void> pick_columns(const TableView& view, ListLayout& layout);

/// Sorts the items, and picks the columns. Errors name the columns there are.
[[nodiscard]] Result<void> apply_view(const TableView& view, std::vector<wire::Value>& items, ListLayout& layout);

/// Whether `a` comes before `b`: text, with the numbers in it compared as numbers (n-2 before n-10).
[[nodiscard]] bool naturally_before(const std::string& a, const std::string& b);

/// What a resource is sorted by: memory, then vcore, then all others together.
[[nodiscard]] SortKey resource_key(const wire::Value& resource);

} // namespace yk::cli
