// SPDX-License-Identifier: Apache-2.0
#pragma once
// Access control lists as values (C-130 to C-138).

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"

namespace yk::config {

/// The users and groups that a submit or admin ACL lets in. There are no deny entries; default-made it lets nobody in.
struct Acl {
    bool everyone = false;
    std::set<std::string, std::less<>> users;
    std::set<std::string, std::less<>> groups;

    /// Whether it names everyone, the user, or any of the groups. Exact and case-sensitive (C-134).
    [[nodiscard]] bool allows(std::string_view user, std::span<const std::string_view> user_groups) const;
    [[nodiscard]] bool lets_somebody_in() const { return everyone || !users.empty() || !groups.empty(); }

    friend bool operator==(const Acl&, const Acl&) = default;
};

/// The ACL that `text` stands for. Names that are not legal (C-090) are dropped and, when `dropped` is given, appended
/// to it. Error: `multiple spaces found in ACL: '<text>'` (C-131).
[[nodiscard]] Result<Acl> parse_acl(std::string_view text, std::vector<std::string>* dropped = nullptr);

} // namespace yk::config
