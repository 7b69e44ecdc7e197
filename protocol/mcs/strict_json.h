// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a small JSON text strictly: no key twice, no unknown field, numbers in their range.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "libcore/base/result.h"

namespace yk::mcs {

using Json = nlohmann::json; // its objects are sorted by key

/// The text as a tree. An error if it is longer than 64 KiB, deeper than 8, has a key twice, or is no JSON.
[[nodiscard]] Result<Json> parse_strict(std::string_view text);

/// The fields of one object. `where` is its path. Each getter names what is wrong and what would be right; an absent
/// field is an error unless there is a default.
class Fields {
public:
    /// REQUIRES: `object` outlives it.
    [[nodiscard]] static Result<Fields> of(const Json& object, std::string where,
                                           std::initializer_list<std::string_view> known);

    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    [[nodiscard]] Result<std::int64_t> number(std::string_view name, std::int64_t least, std::int64_t most,
                                              std::optional<std::int64_t> otherwise = {}) const;
    /// At most 200 bytes, and not empty.
    [[nodiscard]] Result<std::string> text(std::string_view name, std::optional<std::string> otherwise = {}) const;
    /// The place of the text among `choices`.
    [[nodiscard]] Result<std::size_t> choice(std::string_view name, std::initializer_list<std::string_view> choices,
                                             std::optional<std::size_t> otherwise = {}) const;
    /// An array of at most `most` elements; nullptr: absent.
    [[nodiscard]] Result<const Json*> list(std::string_view name, std::size_t most) const;
    /// nullptr: absent.
    [[nodiscard]] const Json* find(std::string_view name) const;
    [[nodiscard]] std::string path(std::string_view name) const;

private:
    Fields(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {}

    const Json* object_;
    std::string where_;
};

/// The path of an element of a list.
[[nodiscard]] inline std::string element(std::string_view list, std::size_t at) {
    return std::string{list} + '[' + std::to_string(at) + ']';
}

/// Each element of a list of the object, read by `parse`; nullopt: there is no such list.
template <class Value, class Parse>
[[nodiscard]] Result<std::optional<std::vector<Value>>> parse_list(const Fields& fields, std::string_view name,
                                                                   std::size_t most, Parse parse) {
    YK_TRY(list, fields.list(name, most));
    if (list == nullptr) return std::optional<std::vector<Value>>{};
    std::vector<Value> values;
    for (std::size_t at = 0; at < list->size(); ++at) {
        YK_TRY(value, parse((*list)[at], element(fields.path(name), at)));
        values.push_back(std::move(value));
    }
    return std::optional{std::move(values)};
}

[[nodiscard]] inline Error policy_fault(std::string where, std::string message) {
    return Error::at(std::move(where), std::move(message));
}

} // namespace yk::mcs
