// SPDX-License-Identifier: Apache-2.0
#include "protocol/metric_pages/page_url.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libcore/base/number.h"

namespace yk::pages {
namespace {

constexpr std::size_t kLongestHost = 253;
constexpr const char* kForm = "http://HOST[:PORT][/PATH] or https is wanted";

[[nodiscard]] bool is_digit(char each) {
    return each >= '0' && each <= '9';
}
[[nodiscard]] char lower(char each) {
    return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
}
/// Of a name or an address of IPv4.
[[nodiscard]] bool is_of_name(char each) {
    return is_digit(each) || (lower(each) >= 'a' && lower(each) <= 'z') || each == '-' || each == '.' || each == '_';
}
/// Of an address of IPv6, within its brackets.
[[nodiscard]] bool is_of_address(char each) {
    return is_digit(each) || (lower(each) >= 'a' && lower(each) <= 'f') || each == ':' || each == '.';
}
[[nodiscard]] bool is_of_path(char each) {
    constexpr std::string_view kNever = "\"#<>\\^`{|}";
    return each > ' ' && each < '\x7f' && kNever.find(each) == std::string_view::npos;
}

struct Authority {
    std::string host;
    std::optional<std::uint16_t> port;
};

[[nodiscard]] std::optional<Authority> parse_authority(std::string_view text) {
    const bool is_address = text.starts_with('[');
    const std::size_t bracket = is_address ? text.find(']') : std::string_view::npos;
    if (is_address && bracket == std::string_view::npos) return std::nullopt;
    const std::size_t end = is_address ? bracket + 1 : std::min(text.find(':'), text.size());
    const std::string_view host = text.substr(0, end), rest = text.substr(end);
    const std::string_view inside = is_address ? host.substr(1, host.size() - 2) : host;
    if (inside.empty() || inside.size() > kLongestHost) return std::nullopt;
    if (!std::all_of(inside.begin(), inside.end(), is_address ? is_of_address : is_of_name)) return std::nullopt;
    Authority made;
    std::transform(host.begin(), host.end(), std::back_inserter(made.host), lower);
    if (rest.empty()) return made;
    const std::string_view digits = rest.substr(1);
    const bool is_number = !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit);
    const auto port = rest.front() == ':' && is_number ? to_number<std::uint16_t>(digits) : std::nullopt;
    if (!port || *port == 0) return std::nullopt;
    made.port = port;
    return made;
}

} // namespace

Result<PageUrl> parse_page_url(std::string_view url) {
    const bool is_secure = url.starts_with("https://");
    if (!is_secure && !url.starts_with("http://")) return Error::of(kForm);
    const std::string_view rest = url.substr(is_secure ? 8 : 7);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    auto authority = parse_authority(rest.substr(0, end));
    if (!authority) return Error::of(std::string{kForm} + ", and HOST is a name or an address without a user");
    const std::string_view path = rest.substr(end);
    if (!std::all_of(path.begin(), path.end(), is_of_path))
        return Error::of("the path has a character that must be written as %HEX");
    const std::uint16_t otherwise = is_secure ? 443 : 80;
    return PageUrl{is_secure, std::move(authority->host), authority->port.value_or(otherwise)};
}

Result<AllowedHost> parse_allowed_host(std::string_view text) {
    auto authority = parse_authority(text);
    if (!authority) return Error::of("HOST or HOST:PORT is wanted, such as 127.0.0.1:9100");
    return AllowedHost{std::move(authority->host), authority->port};
}

std::string refusal_of(std::string_view url, std::span<const std::string> allowed) {
    const auto parsed = parse_page_url(url);
    if (!parsed.ok()) return parsed.error().message;
    const auto allows = [&](const std::string& text) {
        const auto each = parse_allowed_host(text);
        return each.ok() && each->host == parsed->host && each->port.value_or(parsed->port) == parsed->port;
    };
    if (std::any_of(allowed.begin(), allowed.end(), allows)) return {};
    return "the settings do not allow " + parsed->host + ":" + std::to_string(parsed->port) +
           " (mcs.metrics.allowedHosts)";
}

} // namespace yk::pages
