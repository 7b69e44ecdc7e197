// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many of a thing, in words for a person.

#include <string>
#include <string_view>
#include <type_traits>

namespace yk {

/// `1 node`, `2 nodes`; `noun` is the singular of one that takes an s.
template <class Count>
[[nodiscard]] std::string pluralize(Count count, std::string_view noun) {
    static_assert(std::is_integral_v<Count>);
    std::string text = std::to_string(count);
    text.append(" ").append(noun).append(count == 1 ? "" : "s");
    return text;
}

} // namespace yk
