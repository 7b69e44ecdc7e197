// SPDX-License-Identifier: Apache-2.0
#pragma once
// PlacementRuleKind: a kind of placement rule (C-300 to C-326): which name of a queue it yields for an application, and
// what the configuration must say with it. What all rules have in common (filter, parent, create) is placement/rule.h.

#include <span>
#include <string>
#include <string_view>

#include "libcore/base/tag.h"

namespace yk {

/// The application to be placed.
struct Applicant {
    std::string_view user;
    std::string_view queue; // that it asked for; empty: none
    const Tags& tags;
};

/// The name of a queue, or why there is none, as a clause for a person.
struct QueueName {
    std::string text;
    bool found = true;
};

struct PlacementRuleKind {
    std::string_view name; // in lower case
    /// What is wrong without a `value` in the configuration; empty: the kind has no value, and one is ignored.
    std::string_view missing_value;
    /// What dumps call the value; empty: the kind has none.
    std::string_view value_name;
    /// The value is a path of a queue, known before there is an application: it is checked with the configuration, its
    /// dots stay, and it may begin with root (C-303).
    bool value_is_path;
    /// A name that begins with `root.` is a whole path, whatever the parent rule yields.
    bool may_name_whole_paths;
    /// `value` in lower case.
    QueueName (*name_for)(const Applicant& applicant, std::string_view value);
};

/// All there are, in the order in which messages name them. They live as long as the process.
[[nodiscard]] std::span<const PlacementRuleKind> placement_rule_kinds() noexcept;
/// In any case; nullptr: there is none of this name.
[[nodiscard]] const PlacementRuleKind* find_placement_rule_kind(std::string_view name);

} // namespace yk
