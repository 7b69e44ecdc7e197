// SPDX-License-Identifier: Apache-2.0
#pragma once
// The filter of a placement rule, compiled: for which users and groups the rule is (C-320, C-321).

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "libcore/config/config.h"
#include "libcore/config/filter.h"

namespace yk::placement {

/// One list of a filter: names, or one expression. An empty list is not configured and matches nobody.
class NameList {
public:
    /// `is_legal`: the test of a name for this list; names that fail it are dropped.
    NameList(const std::vector<std::string>& entries, bool (*is_legal)(std::string_view));

    [[nodiscard]] bool matches(std::string_view name) const;
    [[nodiscard]] bool is_configured() const { return configured_; }
    [[nodiscard]] const std::set<std::string, std::less<>>& names() const { return names_; }
    [[nodiscard]] std::string expression() const { return expression_ ? expression_->text() : std::string{}; }

private:
    bool configured_;
    std::set<std::string, std::less<>> names_;
    std::optional<config::Expression> expression_;
};

class Filter {
public:
    explicit Filter(const config::Filter& config);

    /// Whether the rule is for the user: an allow filter must name the user or a group, a deny filter must not.
    /// With nothing configured an allow filter passes everybody, a deny filter nobody (C-320).
    [[nodiscard]] bool passes(std::string_view user, std::span<const std::string_view> groups) const;
    [[nodiscard]] bool is_allow() const { return allow_; }
    /// False: it passes everybody.
    [[nodiscard]] bool filters() const { return !allow_ || users_.is_configured() || groups_.is_configured(); }
    [[nodiscard]] const NameList& users() const { return users_; }
    [[nodiscard]] const NameList& groups() const { return groups_; }

private:
    bool allow_;
    NameList users_;
    NameList groups_;
};

} // namespace yk::placement
