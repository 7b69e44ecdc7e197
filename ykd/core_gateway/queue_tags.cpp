// SPDX-License-Identifier: Apache-2.0
#include "ykd/core_gateway/queue_tags.h"

#include <algorithm>

#include "libcore/base/number.h"
#include "protocol/wire/value.h"

namespace yk {

namespace {

using wire::Value;

std::optional<std::int64_t> amount_of(const Value& quantity) {
    if (!quantity.is_object()) return std::nullopt;
    const auto value = quantity.find("value");
    if (value == quantity.end()) return 0;
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    return value->is_number_integer() ? std::optional{value->get<std::int64_t>()} : std::nullopt;
}

} // namespace

std::optional<si::Resources> parse_resource_tag(std::string_view json) {
    const Value value = Value::parse(json, nullptr, false);
    const auto map = value.is_object() ? value.find("resources") : value.end();
    if (map == value.end() || !map->is_object()) return std::nullopt;
    si::Resources resources;
    for (const auto& [name, quantity] : map->items()) {
        const auto amount = amount_of(quantity);
        if (!amount || *amount < 0) return std::nullopt;
        const auto known = std::find_if(resources.begin(), resources.end(),
                                        [&name = name](const auto& each) { return each.first == name; });
        if (known != resources.end()) return std::nullopt;
        resources.emplace_back(name, *amount);
    }
    const bool positive =
        std::any_of(resources.begin(), resources.end(), [](const auto& one) { return one.second > 0; });
    return positive ? std::optional{std::move(resources)} : std::nullopt;
}

std::optional<std::uint64_t> parse_count_tag(std::string_view text) {
    const auto count = to_number<std::uint64_t>(text);
    return count == 0 ? std::nullopt : count;
}

} // namespace yk
