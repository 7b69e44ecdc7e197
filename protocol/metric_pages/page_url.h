// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses of pages that the daemon is to fetch, and which of them it may. Whoever may change a
// Deployment names the address, so only plain ones are taken: a host that one program reads differently from another
// would be a way around the list of those that are allowed.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "libcore/base/result.h"

namespace yk::pages {

struct PageUrl {
    bool is_secure = false; // https
    std::string host;       // in lower case; an address of IPv6 in its brackets
    std::uint16_t port = 0;
};

/// `http://HOST[:PORT][/PATH]` or https, of visible ASCII; without a user, and without a fragment.
[[nodiscard]] Result<PageUrl> parse_page_url(std::string_view url);

/// A host of the settings, with any port if none is named.
struct AllowedHost {
    std::string host; // as in PageUrl
    std::optional<std::uint16_t> port;
};
/// `HOST` or `HOST:PORT`.
[[nodiscard]] Result<AllowedHost> parse_allowed_host(std::string_view text);

/// Why a page may not be fetched; empty: it may. `allowed`: as parse_allowed_host() takes them; others allow nothing.
[[nodiscard]] std::string refusal_of(std::string_view url, std::span<const std::string> allowed);

} // namespace yk::pages
