// SPDX-License-Identifier: Apache-2.0
#pragma once
// TableView: how the user wants to see a list, the same for all lists: --columns, --sort-by, --no-headers.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "ykctl/render/output.h"

namespace yk::cli {

struct SortBy {
    std::string column; // its name
    bool descending = false;
};

struct TableView {
    std::vector<std::string> columns; // names, in order; empty: those of the format
    std::vector<SortBy> sort_by;      // the first one counts most; empty: the order in which the items arrive
    bool headers = true;
};

/// The name of a column for --columns and --sort-by: `last-reason` for LAST REASON.
[[nodiscard]] std::string column_name(const Heading& heading);

/// Sorts the items of a list by columns; equal ones stay in their order. Keeps each item as msgpack, which is a tenth
/// of the size of a Value, so that a million asks fit into memory.
class SortedItems {
public:
    struct By {
        Column column;
        bool descending = false;
    };
    explicit SortedItems(std::vector<By> by) : by_(std::move(by)) {}
    void add(const std::vector<wire::Value>& items);
    /// Hands on all items in order and keeps none. Pages have at most `most` items; the first one sets the widths of a
    /// table.
    void take(std::size_t most, const std::function<void(std::vector<wire::Value>)>& page);

private:
    struct Key { // of one column
        SortKey numbers;
        std::string text; // of the cell, when there are no numbers

        [[nodiscard]] bool is_before(const Key& other) const;
    };
    struct Item {
        std::vector<Key> keys;
        std::vector<std::uint8_t> packed;
    };

    [[nodiscard]] bool is_before(const Item& a, const Item& b) const;

    const std::vector<By> by_;
    std::vector<Item> items_;
};

/// The sorter for --sort-by; nullopt without that option, and for a list without columns. Errors name the columns.
[[nodiscard]] Result<std::optional<SortedItems>> order_of(const TableView& view, const ListLayout& layout);

/// Applies --columns and --no-headers to the layout. Errors name the columns.
[[nodiscard]] Result<void> pick_columns(const TableView& view, ListLayout& layout);

/// Sorts the items and applies --columns and --no-headers. Errors name the columns.
[[nodiscard]] Result<void> apply_view(const TableView& view, std::vector<wire::Value>& items, ListLayout& layout);

/// Whether `a` comes before `b`, where numbers within the texts are compared as numbers (n-2 before n-10).
[[nodiscard]] bool naturally_before(const std::string& a, const std::string& b);

/// The key for sorting resources: memory, then vcore, then the sum of all others.
[[nodiscard]] SortKey resource_key(const wire::Value& resource);

} // namespace yk::cli
