// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/quantity.h"

#include "libcore/config/problem.h"

#include <algorithm>
#include <array>

namespace yk::config {

namespace {

struct Suffix {
    std::string_view text;
    std::int64_t factor;
};

constexpr std::array<Suffix, 13> kSuffixes{{{"", 1},
                                            {"k", 1'000},
                                            {"M", 1'000'000},
                                            {"G", 1'000'000'000},
                                            {"T", 1'000'000'000'000},
                                            {"P", 1'000'000'000'000'000},
                                            {"E", 1'000'000'000'000'000'000},
                                            {"Ki", std::int64_t{1} << 10},
                                            {"Mi", std::int64_t{1} << 20},
                                            {"Gi", std::int64_t{1} << 30},
                                            {"Ti", std::int64_t{1} << 40},
                                            {"Pi", std::int64_t{1} << 50},
                                            {"Ei", std::int64_t{1} << 60}}};
constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kDigits = "0123456789";

struct Shape {
    std::string_view digits;
    std::string_view suffix;
};

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Digits, blanks, then nothing or one letter of `mkKMGTPE` and at most one `i`. Other texts are invalid quantities,
/// not quantities with an invalid suffix.
std::optional<Shape> shape_of(std::string_view text) {
    text = trim(text);
    const std::string_view digits = text.substr(0, std::min(text.find_first_not_of(kDigits), text.size()));
    const std::string_view suffix = trim(text.substr(digits.size()));
    if (digits.empty() || suffix.size() > 2) return std::nullopt;
    if (!suffix.empty() && std::string_view{"mkKMGTPE"}.find(suffix[0]) == std::string_view::npos) return std::nullopt;
    if (suffix.size() == 2 && suffix[1] != 'i') return std::nullopt;
    return Shape{digits, suffix};
}

/// The known suffix that `suffix` probably means; empty: none.
std::string nearest_suffix(std::string_view suffix) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    for (const Suffix& known : kSuffixes)
        if (!known.text.empty() && std::equal(known.text.begin(), known.text.end(), suffix.begin(), suffix.end(),
                                              [&](char a, char b) { return lower(a) == lower(b); }))
            return std::string{known.text};
    return {};
}

Error invalid_suffix(std::string_view text, const Shape& shape) {
    std::string message = "invalid suffix " + in_quotes(text);
    if (shape.suffix == "m")
        message += " (m stands for milli and is for vcore only; did you mean \"" + std::string{shape.digits} + "M\"?)";
    else if (const std::string near = nearest_suffix(shape.suffix); !near.empty())
        message += " (did you mean \"" + std::string{shape.digits} + near + "\"?)";
    else
        message += " (known: m k M G T P E Ki Mi Gi Ti Pi Ei)";
    return Error::of(std::move(message));
}

std::optional<std::int64_t> product(std::string_view digits, std::int64_t factor) {
    std::int64_t value = 0;
    for (const char digit : digits)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit - '0', &value))
            return std::nullopt;
    if (__builtin_mul_overflow(value, factor, &value)) return std::nullopt;
    return value;
}

} // namespace

namespace {

/// The same amount without a fraction, `1500m` for the `1.5` of vcore; empty: `text` is no number, or there is none.
std::string without_fraction(std::string_view type, std::string_view text) {
    text = trim(text);
    const auto point = text.find('.');
    if (point == std::string_view::npos) return {};
    const std::string_view after = text.substr(point + 1);
    const std::string_view decimals = after.substr(0, std::min(after.find_first_not_of(kDigits), after.size()));
    const std::string digits = std::string{text.substr(0, point)} + std::string{after}; // decimals and suffix behind it
    const auto whole = shape_of(digits);
    if (!whole || decimals.empty() || point == 0) return {};
    const auto amount = parse_quantity(type, std::string{whole->digits} + std::string{whole->suffix});
    const auto divisor = product("1" + std::string(decimals.size(), '0'), 1);
    if (!amount.ok() || !divisor || *amount % *divisor != 0) return {};
    return written_quantity(type, *amount / *divisor);
}

Error invalid_quantity(std::string_view type, std::string_view text) {
    const std::string same = without_fraction(type, text);
    return Error::of("invalid quantity " + in_quotes(text) +
                     (same.empty() ? " (expected digits and an optional suffix: m k M G T P E Ki Mi Gi Ti Pi Ei)"
                                   : " (no fractions: write " + same + ")"));
}

} // namespace

Result<std::int64_t> parse_quantity(std::string_view type, std::string_view text) {
    const auto shape = shape_of(text);
    if (!shape) return invalid_quantity(type, text);
    const bool vcore = type == kVcore;
    const bool milli = vcore && shape->suffix == "m";
    const auto* suffix = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                      [&](const Suffix& known) { return known.text == shape->suffix; });
    if (!milli && suffix == kSuffixes.end()) return invalid_suffix(text, *shape);

    auto value = product(shape->digits, milli ? 1 : suffix->factor);
    if (value && vcore && !milli && __builtin_mul_overflow(*value, 1000, &*value)) value.reset();
    if (!value)
        return Error::of("invalid quantity: overflow, " + in_quotes(text) + " is above " +
                         (vcore ? "9223372036854775807 milli-cores" : "9223372036854775807"));
    return *value;
}

std::string quantity_text(std::string_view type, std::int64_t value) {
    if (type != kVcore) return std::to_string(value);
    return value % 1000 == 0 ? std::to_string(value / 1000) : std::to_string(value) + "m";
}

std::string written_quantity(std::string_view type, std::int64_t value) {
    std::string shortest = quantity_text(type, value);
    if (type != "memory" || value == 0) return shortest;
    for (const Suffix& suffix : kSuffixes) {
        if (value % suffix.factor != 0) continue;
        std::string text = std::to_string(value / suffix.factor) + std::string{suffix.text};
        if (text.size() < shortest.size()) shortest = std::move(text);
    }
    return shortest;
}

std::string written_resource(const ResourceMap& resource) {
    std::string text = "{";
    for (const auto& [type, value] : resource) {
        if (text.size() > 1) text += ", ";
        text += type + ": " + written_quantity(type, value);
    }
    return text + '}';
}

std::string resource_text(const ResourceMap& resource) {
    std::string text = "map[";
    for (const auto& [type, value] : resource) {
        if (text.size() > 4) text += ' ';
        text += type + ':' + std::to_string(value);
    }
    return text + ']';
}

std::string resource_text(const std::optional<ResourceMap>& resource) {
    return resource ? resource_text(*resource) : "nil resource";
}

} // namespace yk::config
