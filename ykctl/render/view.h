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

struct TableView {
    std::vector<std::string> columns; // names, in order; empty: those of the format
    std::string sort_by;              // the name of a column; empty: the order in which the items arrive
    bool descending = false;
    bool headers = true;
};

/// The name of a column for --columns and --sort-by: `last-reason` for LAST REASON.
[[nodiscard]] std::string column_name(const Heading& heading);

/// Sorts the items of a list by a column; equal ones stay in their order. Keeps each item as msgpack, which is a tenth
/// of the size of a Value, so that a million asks fit into memory.
class SortedItems {
public:
    SortedItems(Column by, bool descending) : by_(std::move(by)), descending_(descending) {}
    void add(const std::vector<wire::Value>& items);
    /// Hands on all items in order and keeps none. Pages have at most `most` items; the first one sets the widths of a
    /// table.
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
