// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers written as text.

#include <charconv>
#include <optional>
#include <string_view>

namespace yk {

/// The number that all of `text` is, in decimal without blanks or a plus sign; none if it is anything else or does not
/// fit the type.
template <class Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view text) noexcept {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [rest, fault] = std::from_chars(text.data(), end, value);
    if (fault != std::errc{} || rest != end) return std::nullopt;
    return value;
}

} // namespace yk
