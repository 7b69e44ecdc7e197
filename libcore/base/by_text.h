// SPDX-License-Identifier: Apache-2.0
#pragma once
// ByText<Value>: a hash table by texts in which a view is looked up without making a text of it.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace yk {

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

template <class Value>
using ByText = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

} // namespace yk
