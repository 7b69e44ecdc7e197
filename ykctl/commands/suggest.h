#pragma once
// Did you mean ...?

#include <string>
#include <string_view>
#include <vector>

namespace yk::cli {

/// `; did you mean 'list'?` with the first candidate that begins with `word`, else the nearest (config::nearest), or
/// nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

} // namespace yk::cli
