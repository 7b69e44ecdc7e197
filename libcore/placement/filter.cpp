// SPDX-License-Identifier: Apache-2.0
#include "libcore/placement/filter.h"

#include <algorithm>

#include "libcore/config/names.h"

namespace yk::placement {

NameList::NameList(const std::vector<std::string>& entries, bool (*is_legal)(std::string_view))
    : configured_(!entries.empty()) {
    if (entries.size() == 1 && config::is_expression(entries.front())) {
        expression_.emplace(entries.front());
        return;
    }
    for (const std::string& entry : entries)
        if (is_legal(entry)) names_.insert(entry);
}

bool NameList::matches(std::string_view name) const {
    return expression_ ? expression_->found_in(name) : names_.count(name) != 0;
}

Filter::Filter(const config::Filter& config)
    : allow_(config::lower(config.type) != "deny"),
      users_(config.users, config::is_user_name),
      groups_(config.groups, config::is_group_name) {}

bool Filter::passes(std::string_view user, std::span<const std::string_view> groups) const {
    if (!users_.is_configured() && !groups_.is_configured()) return allow_;
    const bool named =
        users_.matches(user) ||
        std::any_of(groups.begin(), groups.end(), [this](std::string_view group) { return groups_.matches(group); });
    return named == allow_;
}

} // namespace yk::placement
