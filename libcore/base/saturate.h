// SPDX-License-Identifier: Apache-2.0
#pragma once
// Saturating 64-bit arithmetic (S-003): never wraps, never traps.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace yk {

inline constexpr std::int64_t kMaxQuantity = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMinQuantity = std::numeric_limits<std::int64_t>::min();

[[nodiscard]] constexpr std::int64_t sat_add(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? kMaxQuantity : kMinQuantity;
    return sum;
}

[[nodiscard]] constexpr std::int64_t sat_sub(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) return b < 0 ? kMaxQuantity : kMinQuantity;
    return difference;
}

/// `MAX * -1` is `MIN + 1` and `MIN * -1` is `MAX` (S-003): only true overflow saturates.
[[nodiscard]] constexpr std::int64_t sat_mul(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kMaxQuantity : kMinQuantity;
    return product;
}

[[nodiscard]] constexpr std::int64_t sat_sum(std::span<const std::int64_t> values) noexcept {
    std::int64_t sum = 0;
    for (const std::int64_t each : values) sum = sat_add(sum, each);
    return sum;
}

/// to[i] += by[i], all at once. False, with nothing changed, when one of them would overflow.
template <std::size_t N>
[[nodiscard]] constexpr bool add_each(std::array<std::int64_t, N>& to, const std::array<std::int64_t, N>& by) noexcept {
    std::array<std::int64_t, N> sum{};
    std::uint64_t wrong = 0; // its sign bit is set when a sum has the sign of neither operand
    for (std::size_t i = 0; i < N; ++i) {
        const auto a = static_cast<std::uint64_t>(to[i]);
        const auto b = static_cast<std::uint64_t>(by[i]);
        wrong |= (a ^ (a + b)) & (b ^ (a + b));
        sum[i] = static_cast<std::int64_t>(a + b);
    }
    if (static_cast<std::int64_t>(wrong) < 0) return false;
    to = sum;
    return true;
}

/// As add_each(), for to[i] -= by[i].
template <std::size_t N>
[[nodiscard]] constexpr bool sub_each(std::array<std::int64_t, N>& to, const std::array<std::int64_t, N>& by) noexcept {
    std::array<std::int64_t, N> difference{};
    std::uint64_t wrong =
        0; // its sign bit is set when operands differ in sign and the result does not have the first one's
    for (std::size_t i = 0; i < N; ++i) {
        const auto a = static_cast<std::uint64_t>(to[i]);
        const auto b = static_cast<std::uint64_t>(by[i]);
        wrong |= (a ^ b) & (a ^ (a - b));
        difference[i] = static_cast<std::int64_t>(a - b);
    }
    if (static_cast<std::int64_t>(wrong) < 0) return false;
    to = difference;
    return true;
}

/// Truncates toward zero; a zero operand or NaN gives 0.
[[nodiscard]] inline std::int64_t sat_scale(std::int64_t a, double ratio) noexcept {
    if (a == 0 || ratio == 0.0 || std::isnan(ratio)) return 0;
    const double product = static_cast<double>(a) * ratio;
    constexpr double limit = 9223372036854775808.0; // 2^63, exact as a double
    if (product >= limit) return kMaxQuantity;
    if (product < -limit) return kMinQuantity;
    return static_cast<std::int64_t>(product);
}

} // namespace yk
