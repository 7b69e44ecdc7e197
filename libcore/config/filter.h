#pragma once
// When the single entry of a filter list is a name, a regular expression, or neither (C-305, C-320).

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace yk::config {

enum class FilterEntry { Name, Expression, Invalid };

/// B-11: compiling an expression of this size takes at most milliseconds; a configuration has at most so many.
inline constexpr std::int64_t kMaxExpressionBytes = 256 * 1024;
inline constexpr std::size_t kMaxExpressions = 256;

/// `is_legal`: the name rule of the list, is_user_name or is_group_name. An expression contains at least one of
/// `^ $ * + ? ( ) [ { } |` and compiles as RE2.
[[nodiscard]] FilterEntry classify_filter_entry(std::string_view entry, bool (*is_legal)(std::string_view));

} // namespace yk::config
