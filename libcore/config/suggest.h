// SPDX-License-Identifier: Apache-2.0
#pragma once
// "did you mean": the nearest known word (B-05).

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace yk::config {

/// How many letters have to be changed, added, dropped or exchanged with the next to make one of the other, without
/// regard to case; for words.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word of `known` that equals `word` without regard to case, else the one with the smallest edit distance, which
/// is at most 2 and less than the length of `word`; the first of several; empty when there is none.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string_view> known);

} // namespace yk::config
