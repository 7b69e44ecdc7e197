// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

namespace yk {

/// The key that was counted most often, on ties the largest of them; Key{} when nothing was counted.
template <class Key, class Count>
[[nodiscard]] Key commonest(const std::map<Key, Count>& counts) {
    Key found{};
    Count most{};
    for (const auto& [key, count] : counts)
        if (count >= most) {
            found = key;
            most = count;
        }
    return found;
}

} // namespace yk
