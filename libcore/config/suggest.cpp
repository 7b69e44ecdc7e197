// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "libcore/config/names.h"

namespace yk::config {

namespace {

constexpr std::size_t kFarthest = 2;
constexpr std::size_t kLongest = 64; // no known word is longer: keeps the table small for hostile input

/// The number of changes that turn `a` into `b`; exchanging two neighbouring letters is one change.
std::size_t distance_of(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    if (a.size() > kLongest || b.size() > kLongest) return std::max(a.size(), b.size());
    return distance_of(lower(a), lower(b));
}

std::string nearest(std::string_view word, std::span<const std::string_view> known) {
    if (word.size() > kLongest) return {};
    const std::string wanted = lower(word);
    std::string_view best;
    std::size_t best_distance = std::min(kFarthest + 1, word.size());
    for (const std::string_view candidate : known) {
        const std::size_t distance = distance_of(wanted, lower(candidate));
        if (distance >= best_distance) continue;
        best = candidate;
        best_distance = distance;
    }
    return std::string{best};
}

} // namespace yk::config
