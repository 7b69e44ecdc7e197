// SPDX-License-Identifier: Apache-2.0
#pragma once
// When the single entry of a filter list is a name, a regular expression, or neither (C-305, C-320), and the compiled
// expression.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace yk::config {

enum class FilterEntry { Name, Expression, Invalid };

/// Limits that keep validation short: an expression whose program is this large takes milliseconds to compile, and a
/// configuration has at most so many (B-11).
inline constexpr std::int64_t kMaxExpressionBytes = 256LL * 1024;
inline constexpr std::size_t kMaxExpressions = 256;

/// `is_legal`: the test of names for the list, is_user_name or is_group_name. An expression contains at least one of
/// `^ $ * + ? ( ) [ { } |` and compiles as RE2.
[[nodiscard]] FilterEntry classify_filter_entry(std::string_view entry, bool (*is_legal)(std::string_view));
/// Whether the entry has such a character: a single one is then used as an expression, even `bob$`, which is a legal
/// name (C-320).
[[nodiscard]] bool is_expression(std::string_view entry);

/// A compiled expression in RE2 syntax. One that does not compile, which validation refuses, matches nothing.
class Expression {
public:
    explicit Expression(std::string_view text);
    ~Expression();
    Expression(Expression&&) noexcept;
    Expression& operator=(Expression&&) noexcept;

    /// Somewhere in `text`, case-sensitive. Linear in its length.
    [[nodiscard]] bool found_in(std::string_view text) const;
    [[nodiscard]] const std::string& text() const;

private:
    std::unique_ptr<const re2::RE2> compiled_;
};

} // namespace yk::config
