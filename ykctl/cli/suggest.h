// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `did you mean` of error messages.

#include <string>
#include <string_view>
#include <vector>

namespace yk::cli {

/// The word of `known` that equals `word` without regard to case; nullptr when there is none.
[[nodiscard]] const std::string* find_in_any_case(std::string_view word, const std::vector<std::string>& known);

/// `; did you mean 'list'?` with the first candidate that begins with `word`. Else with the nearest (config::nearest),
/// if it takes fewer changes than half of the letters, and for a short word begins alike. Else empty.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

} // namespace yk::cli
