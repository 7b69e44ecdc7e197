// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first names of a list that may be long, for a person.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace yk {

/// `a, b`, or with more than `most` names `a, b and 7 more`.
[[nodiscard]] inline std::string few_of(const std::vector<std::string>& names, std::size_t most = 5,
                                        std::string_view separator = ", ") {
    const std::size_t shown = std::min(names.size(), most);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) text.append(i == 0 ? "" : separator).append(names[i]);
    if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
    return text;
}

} // namespace yk
