// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/duration.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace yk::config {

namespace {

__extension__ using Wide = unsigned __int128; // holds 10^18 times an hour in nanoseconds

struct Unit {
    std::string_view text;
    std::uint64_t ns;
};

// Longer names first where one is the beginning of another. Micro has two code points.
constexpr std::array<Unit, 8> kUnits{{{"ns", 1},
                                      {"us", 1'000},
                                      {"\u00b5s", 1'000},
                                      {"\u03bcs", 1'000},
                                      {"ms", 1'000'000},
                                      {"s", 1'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"h", 3'600'000'000'000}}};
constexpr std::uint64_t kLimit = std::uint64_t{1} << 63; // of the absolute value

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Takes digits off the front of `text`; nullopt when the number passes kLimit. `count` is how many there were.
std::optional<std::uint64_t> take_integer(std::string_view& text, std::size_t& count) {
    std::uint64_t value = 0;
    for (count = 0; count < text.size() && is_digit(text[count]); ++count) {
        value = value * 10 + static_cast<std::uint64_t>(text[count] - '0');
        if (value > kLimit) return std::nullopt;
    }
    text.remove_prefix(count);
    return value;
}

struct Fraction {
    std::uint64_t digits = 0;
    std::uint64_t scale = 1;
};

Fraction take_fraction(std::string_view& text, std::size_t& count) {
    constexpr std::size_t kKept = 18; // further digits count for far less than a nanosecond
    Fraction fraction;
    for (count = 0; count < text.size() && is_digit(text[count]); ++count) {
        if (count >= kKept) continue;
        fraction.digits = fraction.digits * 10 + static_cast<std::uint64_t>(text[count] - '0');
        fraction.scale *= 10;
    }
    text.remove_prefix(count);
    return fraction;
}

const Unit* take_unit(std::string_view& text) {
    for (const Unit& unit : kUnits) {
        if (text.substr(0, unit.text.size()) != unit.text) continue;
        text.remove_prefix(unit.text.size());
        return &unit;
    }
    return nullptr;
}

/// One number with its unit, in nanoseconds.
std::optional<Wide> take_part(std::string_view& text) {
    std::size_t whole_digits = 0;
    std::size_t fraction_digits = 0;
    const auto whole = take_integer(text, whole_digits);
    if (!whole) return std::nullopt;
    Fraction fraction;
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        fraction = take_fraction(text, fraction_digits);
    }
    const Unit* unit = take_unit(text);
    if (unit == nullptr || whole_digits + fraction_digits == 0) return std::nullopt;
    return Wide{*whole} * unit->ns + Wide{fraction.digits} * unit->ns / fraction.scale;
}

Error bad_duration(std::string_view text) {
    return {0,
            "invalid duration \"" + std::string{text} +
                "\" (expected numbers with units ns, us, ms, s, m or h, such as 30s or 1h30m)",
            {}};
}

/// `value / unit` with the fraction in decimal, without trailing zeros.
std::string decimal(std::uint64_t value, std::uint64_t unit) {
    std::string text = std::to_string(value / unit);
    if (const std::uint64_t rest = value % unit; rest != 0) {
        std::string digits = std::to_string(unit + rest).substr(1);
        digits.erase(digits.find_last_not_of('0') + 1);
        text += '.' + digits;
    }
    return text;
}

} // namespace

Result<Duration> parse_duration(std::string_view text) {
    std::string_view rest = text;
    const bool negative = !rest.empty() && rest.front() == '-';
    if (negative || (!rest.empty() && rest.front() == '+')) rest.remove_prefix(1);
    if (rest == "0") return Duration::zero();
    if (rest.empty()) return bad_duration(text);

    Wide total = 0;
    while (!rest.empty()) {
        const auto part = take_part(rest);
        if (!part) return bad_duration(text);
        total += *part;
        if (total > kLimit) return bad_duration(text);
    }
    if (!negative && total == kLimit) return bad_duration(text);
    const auto magnitude = static_cast<std::uint64_t>(total);
    return Duration{static_cast<std::int64_t>(negative ? ~magnitude + 1 : magnitude)};
}

std::string duration_text(Duration duration) {
    const std::int64_t count = duration.count();
    if (count == 0) return "0s";
    const auto bits = static_cast<std::uint64_t>(count);
    const std::uint64_t ns = count < 0 ? ~bits + 1 : bits;
    const std::string sign = count < 0 ? "-" : "";
    if (ns < 1'000) return sign + std::to_string(ns) + "ns";
    if (ns < 1'000'000) return sign + decimal(ns, 1'000) + "\u00b5s";
    if (ns < 1'000'000'000) return sign + decimal(ns, 1'000'000) + "ms";

    constexpr std::uint64_t kMinute = 60'000'000'000;
    constexpr std::uint64_t kHour = 60 * kMinute;
    std::string text = sign;
    if (ns >= kHour) text += std::to_string(ns / kHour) + "h";
    if (ns >= kMinute) text += std::to_string(ns % kHour / kMinute) + "m";
    return text + decimal(ns % kMinute, 1'000'000'000) + "s";
}

} // namespace yk::config
