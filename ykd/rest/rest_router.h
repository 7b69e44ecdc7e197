// SPDX-License-Identifier: Apache-2.0
#pragma once
// RestRouter: which route a path is, as the original's router decides it: the names in it, another spelling that it is
// sent to, or which methods it takes.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yk::service {

/// One route. A part of its path that begins with a colon takes any text.
struct RestPath {
    std::string_view method;
    std::string_view path;
};

/// What a request is to the router.
struct RestMatch {
    enum class Kind { Found, Moved, NotAllowed, Options, NotFound };
    Kind kind = Kind::NotFound;
    std::size_t route = 0;           // Found: its index
    std::vector<std::string> values; // Found: of the parts with a colon, decoded once
    std::string text;                // Moved: the right path; NotAllowed and Options: the methods, as `GET, OPTIONS`
};

/// Owner: RestGateway. Thread: any.
class RestRouter {
public:
    explicit RestRouter(const std::vector<RestPath>& routes);

    /// `path` is not decoded yet.
    [[nodiscard]] RestMatch match(const std::string& method, const std::string& path) const;

private:
    struct Route {
        std::string method;
        std::vector<std::string> parts;
    };
    [[nodiscard]] std::string methods_of(const std::vector<std::string>& parts) const;

    std::vector<Route> routes_;
};

} // namespace yk::service
