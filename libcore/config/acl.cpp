// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/acl.h"

#include <algorithm>

#include "libcore/config/names.h"

namespace yk::config {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::set<std::string, std::less<>> legal_names(std::string_view list, bool (*is_legal)(std::string_view),
                                               std::vector<std::string>* dropped) {
    std::set<std::string, std::less<>> names;
    if (list.empty()) return names;
    for (const std::string_view name : split(list, ',')) {
        if (is_legal(name))
            names.emplace(name);
        else if (dropped != nullptr)
            dropped->emplace_back(name);
    }
    return names;
}

} // namespace

bool Acl::allows(std::string_view user, std::span<const std::string_view> user_groups) const {
    return everyone || users.count(user) != 0 ||
           std::any_of(user_groups.begin(), user_groups.end(),
                       [&](std::string_view group) { return groups.count(group) != 0; });
}

Result<Acl> parse_acl(std::string_view text, std::vector<std::string>* dropped) {
    auto fields = split(text, ' ');
    // one blank may trail the group list (C-132)
    if (fields.size() == 3 && fields[2].empty() && !fields[1].empty()) fields.pop_back();
    if (fields.size() > 2)
        return Error::of("multiple spaces found in ACL: '" + std::string{text} +
                         "' (expected users, one blank, groups; the lists separated by commas without blanks)");
    Acl acl;
    acl.everyone = std::find(fields.begin(), fields.end(), "*") != fields.end();
    if (acl.everyone) return acl;
    acl.users = legal_names(fields[0], is_user_name, dropped);
    if (fields.size() == 2) acl.groups = legal_names(fields[1], is_group_name, dropped);
    return acl;
}

} // namespace yk::config
