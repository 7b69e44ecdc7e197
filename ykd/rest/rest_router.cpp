// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_router.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "libcore/config/names.h"
#include "ykd/rest/rest_names.h"

namespace yk::service {
namespace {

using PathParts = std::vector<std::string>;

/// The parts of a path that begins with a slash; a final slash makes an empty one.
PathParts parts_of(std::string_view path) {
    PathParts parts;
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::size_t end = std::min(path.find('/'), path.size());
        parts.emplace_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return parts;
}

/// Without empty parts, `.` and `..`.
PathParts cleaned(const PathParts& parts) {
    PathParts clean;
    for (const std::string& part : parts) {
        if (part == "..") {
            if (!clean.empty()) clean.pop_back();
        } else if (!part.empty() && part != ".") {
            clean.push_back(part);
        }
    }
    return clean;
}

bool is_name(const std::string& part) {
    return part.starts_with(':');
}

enum class Case { Counts, Ignored };

/// The last part of a path is empty only by a final slash, and then it is no name.
bool fits(const PathParts& route, const PathParts& parts, Case how) {
    if (route.size() != parts.size() || (!parts.empty() && parts.back().empty())) return false;
    return std::equal(route.begin(), route.end(), parts.begin(), [how](const std::string& wanted, const auto& part) {
        if (is_name(wanted)) return true;
        return how == Case::Counts ? wanted == part : config::lower(wanted) == config::lower(part);
    });
}

/// Whether nothing but the last name of the route is missing behind a final slash: the original takes the slash off.
bool fits_without_last(const PathParts& route, const PathParts& parts) {
    if (parts.empty() || !parts.back().empty() || !is_name(route.back())) return false;
    PathParts filled = parts;
    filled.back() = "x";
    return fits(route, filled, Case::Counts);
}

/// The path of the route with the names of these parts.
std::string path_of(const PathParts& route, const PathParts& parts) {
    std::string path;
    for (std::size_t i = 0; i < route.size(); ++i) {
        path += '/';
        path += is_name(route[i]) ? escaped_part(parts[i]) : route[i];
    }
    return path;
}

} // namespace

RestRouter::RestRouter(const std::vector<RestPath>& routes) {
    for (const RestPath& one : routes) routes_.push_back({std::string(one.method), parts_of(one.path)});
}

std::string RestRouter::methods_of(const PathParts& parts) const {
    std::set<std::string> methods;
    for (const Route& route : routes_)
        if (fits(route.parts, parts, Case::Counts)) methods.insert(route.method);
    if (!methods.empty()) methods.insert("OPTIONS");
    return fmt::format("{}", fmt::join(methods, ", "));
}

RestMatch RestRouter::match(const std::string& method, const std::string& path) const {
    RestMatch match;
    const auto decoded = unescaped(path, false);
    if (!decoded || !decoded->starts_with('/')) return match;
    const PathParts parts = parts_of(*decoded);
    for (const Route& route : routes_) {
        if (route.method != method || !fits(route.parts, parts, Case::Counts)) continue;
        match.kind = RestMatch::Kind::Found;
        match.route = static_cast<std::size_t>(&route - routes_.data());
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (is_name(route.parts[i])) match.values.push_back(parts[i]);
        return match;
    }
    const PathParts clean = cleaned(parts);
    for (const Route& route : routes_) {
        if (route.method != method) continue;
        if (fits_without_last(route.parts, parts)) {
            match.kind = RestMatch::Kind::Moved;
            match.text = path_of(PathParts(route.parts.begin(), route.parts.end() - 1), parts);
            return match;
        }
        if (!fits(route.parts, clean, Case::Ignored)) continue;
        match.kind = RestMatch::Kind::Moved;
        match.text = path_of(route.parts, clean);
        return match;
    }
    match.text = methods_of(parts);
    if (match.text.empty()) return match;
    match.kind = method == "OPTIONS" ? RestMatch::Kind::Options : RestMatch::Kind::NotAllowed;
    return match;
}

} // namespace yk::service
