// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/text.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <cwchar>
#include <utility>

#include <locale.h>

#include <fmt/format.h>

namespace yk::cli {
namespace {

constexpr std::int64_t kMilli = 1000;

/// As the C library knows it for UTF-8, whatever the user's locale is.
std::size_t character_width(char32_t code) {
    static const locale_t kUtf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (kUtf8 == nullptr) return 1;
    const locale_t before = ::uselocale(kUtf8);
    const int width = ::wcwidth(static_cast<wchar_t>(code));
    ::uselocale(before);
    return width < 0 ? 1 : static_cast<std::size_t>(width);
}

/// A number with at most `digits` digits after the point, and no zeros at the end.
std::string decimal_text(double value, int digits) {
    auto text = fmt::format("{:.{}f}", value, digits);
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

std::string binary_text(std::int64_t bytes) {
    static constexpr std::array<const char*, 7> kSuffixes{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    auto value = static_cast<double>(bytes);
    std::size_t step = 0;
    while (std::abs(value) >= 1024 && step + 1 < kSuffixes.size()) {
        value /= 1024;
        ++step;
    }
    return decimal_text(value, 1) + kSuffixes[step];
}

/// The entries in the order for a person: memory, vcore, then the others by name.
std::vector<std::pair<std::string, std::int64_t>> in_reading_order(const wire::Value& resource) {
    std::vector<std::pair<std::string, std::int64_t>> amounts;
    if (!resource.is_object()) return amounts;
    for (const auto& [name, amount] : resource.items()) {
        if (amount.is_number()) amounts.emplace_back(name, amount.get<std::int64_t>());
    }
    const auto rank = [](const std::string& name) { return name == "memory" ? 0 : name == "vcore" ? 1 : 2; };
    std::sort(amounts.begin(), amounts.end(), [&](const auto& a, const auto& b) {
        return std::pair(rank(a.first), a.first) < std::pair(rank(b.first), b.first);
    });
    return amounts;
}

} // namespace

std::string quantity_text(std::string_view resource, std::int64_t amount) {
    if (resource == "memory") return binary_text(amount);
    if (resource == "vcore") return decimal_text(static_cast<double>(amount) / kMilli, 3);
    return std::to_string(amount);
}

std::string resource_text(const wire::Value& resource) {
    std::vector<std::string> parts;
    for (const auto& [name, amount] : in_reading_order(resource)) {
        parts.push_back(name == "memory" ? quantity_text(name, amount)
                                         : quantity_text(name, amount) + " " + printable(name));
    }
    return or_dash(join(parts, " "));
}

std::string named_resource_text(const wire::Value& resource) {
    std::vector<std::string> parts;
    for (const auto& [name, amount] : in_reading_order(resource)) {
        parts.push_back(printable(name) + " " + quantity_text(name, amount));
    }
    return or_dash(join(parts, ", "));
}

std::string duration_text(std::chrono::nanoseconds duration) {
    using namespace std::chrono;
    if (duration < nanoseconds::zero()) return "-";
    if (duration < seconds{1}) return fmt::format("{}ms", duration_cast<milliseconds>(duration).count());
    const auto total = duration_cast<seconds>(duration).count();
    constexpr std::array<std::pair<std::int64_t, char>, 4> kUnits{{{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}}};
    for (std::size_t unit = 0; unit + 1 < kUnits.size(); ++unit) {
        if (total < kUnits[unit].first) continue;
        const auto rest = total % kUnits[unit].first / kUnits[unit + 1].first;
        const auto head = fmt::format("{}{}", total / kUnits[unit].first, kUnits[unit].second);
        return rest == 0 ? head : head + fmt::format("{}{}", rest, kUnits[unit + 1].second);
    }
    return fmt::format("{}s", total);
}

std::string time_text(std::int64_t unix_nanoseconds) {
    if (unix_nanoseconds == 0) return "-";
    constexpr std::int64_t kSecond = 1'000'000'000;
    auto whole = unix_nanoseconds / kSecond;
    auto part = unix_nanoseconds % kSecond;
    if (part < 0) {
        part += kSecond;
        --whole;
    }
    const std::time_t when = whole;
    std::tm broken{};
    gmtime_r(&when, &broken);
    const auto text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", broken.tm_year + 1900, broken.tm_mon + 1,
                                  broken.tm_mday, broken.tm_hour, broken.tm_min, broken.tm_sec);
    return text + fmt::format(".{:06}Z", part / 1000);
}

ShownCharacter take_character(std::string_view& text) {
    const auto [length, code] = decode_character(text);
    const std::size_t bytes = std::max<std::size_t>(1, length);
    const ShownCharacter next{text.substr(0, bytes), length == 0 ? 1 : character_width(code)};
    text.remove_prefix(bytes);
    return next;
}

std::size_t display_width(std::string_view text) {
    const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (std::all_of(text.begin(), text.end(), is_ascii)) return text.size();
    std::size_t width = 0;
    while (!text.empty()) width += take_character(text).width;
    return width;
}

std::string or_dash(std::string text) {
    if (text.empty()) return "-";
    return text;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

} // namespace yk::cli
