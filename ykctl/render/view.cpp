// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/view.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libcore/config/suggest.h"
#include "ykctl/render/path_column.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Returns the digits of `text` from `at` on, without leading zeros, and moves `at` behind them.
std::string take_number(const std::string& text, std::size_t& at) {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    const std::size_t first = text.find_first_not_of('0', start);
    return first < at ? text.substr(first, at - first) : std::string{};
}

/// Finds a column by its name, else by the first words of its name: `apps` for APPS run/acc/max; else by a path.
Result<Column> find_column(const std::string& wanted, const ListLayout& layout) {
    std::string name = wanted;
    std::transform(name.begin(), name.end(), name.begin(), lower);
    std::vector<std::string> names;
    for (const auto& column : layout.columns) names.push_back(column_name(column.heading));
    for (const auto& begins : {name, name + "-"}) {
        const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& known) {
            return begins == name ? known == name : known.compare(0, begins.size(), begins) == 0;
        });
        if (found != names.end()) return layout.columns[static_cast<std::size_t>(found - names.begin())];
    }
    static const std::set<std::string> kFormerNames{"id", "key", "queue", "rm", "user", "group", "partition"};
    if (kFormerNames.count(name) != 0 && !names.empty() && names.front() == "name") return layout.columns.front();
    if (is_path(wanted)) return path_column(wanted);
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string near = config::nearest(name, known);
    return Error::of("there is no column '" + wanted + "'; there are " + join(names, ", ") +
                     (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

} // namespace

std::string column_name(const Heading& heading) {
    std::string name = heading.text;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c == ' ' ? '-' : lower(c); });
    return name;
}

bool SortedItems::Key::is_before(const Key& other) const {
    if (numbers != other.numbers) return numbers < other.numbers;
    return naturally_before(text, other.text);
}

bool SortedItems::is_before(const Item& a, const Item& b) const {
    for (std::size_t i = 0; i < by_.size(); ++i) {
        const Key &left = by_[i].descending ? b.keys[i] : a.keys[i], &right = by_[i].descending ? a.keys[i] : b.keys[i];
        if (left.is_before(right)) return true;
        if (right.is_before(left)) return false;
    }
    return false;
}

void SortedItems::add(const std::vector<Value>& items) {
    for (const Value& item : items) {
        std::vector<Key> keys;
        for (const auto& [column, descending] : by_)
            keys.push_back(column.order ? Key{column.order(item), {}} : Key{{}, column.cell(item)});
        items_.push_back({std::move(keys), Value::to_msgpack(item)});
    }
}

void SortedItems::take(std::size_t most, const std::function<void(std::vector<Value>)>& page) {
    std::stable_sort(items_.begin(), items_.end(), [this](const Item& a, const Item& b) { return is_before(a, b); });
    for (std::size_t at = 0; at < items_.size();) {
        std::vector<Value> items;
        for (; at < items_.size() && items.size() < most; ++at)
            items.push_back(Value::from_msgpack(std::exchange(items_[at].packed, {})));
        page(std::move(items));
    }
    items_.clear();
}

Result<std::optional<SortedItems>> order_of(const TableView& view, const ListLayout& layout) {
    if (view.sort_by.empty() || layout.columns.empty()) return std::optional<SortedItems>{};
    std::vector<SortedItems::By> by;
    for (const auto& [column, descending] : view.sort_by) {
        YK_TRY(found, find_column(column, layout));
        by.push_back({std::move(found), descending});
    }
    return std::optional<SortedItems>{std::in_place, std::move(by)};
}

Result<void> pick_columns(const TableView& view, ListLayout& layout) {
    layout.headers = view.headers;
    if (view.columns.empty() || layout.columns.empty())
        return {}; // a list without columns exists in machine formats only
    std::vector<Column> chosen;
    for (const std::string& name : view.columns) {
        YK_TRY(found, find_column(name, layout));
        chosen.push_back(std::move(found));
        chosen.back().wide = false;
        chosen.back().heading.is_wanted = true;
    }
    layout.columns = std::move(chosen);
    return {};
}

Result<void> apply_view(const TableView& view, std::vector<Value>& items, ListLayout& layout) {
    YK_TRY(sorted, order_of(view, layout));
    if (sorted) {
        sorted->add(items);
        sorted->take(items.size(), [&items](std::vector<Value> all) { items = std::move(all); });
    }
    return pick_columns(view, layout);
}

bool naturally_before(const std::string& a, const std::string& b) {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const std::string x = take_number(a, i), y = take_number(b, j);
            if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
            continue;
        }
        if (a[i] != b[j]) return a[i] < b[j];
        ++i;
        ++j;
    }
    return a.size() - i < b.size() - j;
}

SortKey resource_key(const Value& resource) {
    if (!resource.is_object()) return {};
    SortKey key{0, 0, 0};
    for (const auto& [name, amount] : resource.items()) {
        if (!amount.is_number()) continue;
        key[name == "memory" ? 0 : name == "vcore" ? 1 : 2] += amount.get<double>();
    }
    return key;
}

} // namespace yk::cli
