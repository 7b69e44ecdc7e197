// SPDX-License-Identifier: Apache-2.0
#pragma once
// tag: the queue has the name that is the value of a tag of the application. The rule's value is the key of the tag, in
// any case.

#include "libcore/base/text.h"
#include "libcore/policies/placement_rule_kind.h"

namespace yk {

inline constexpr PlacementRuleKind kPlacementRuleTag{
    "tag",
    "a tag queue rule must have a tag name set (key \"value\")",
    "tagName",
    false,
    true,
    [](const Applicant& applicant, std::string_view value) -> QueueName {
        for (const Tag& tag : applicant.tags)
            if (!tag.value.empty() && lower(tag.key) == value) return {std::string{tag.value}};
        return {"the application has no tag " + std::string{value} + " with a value", false};
    }};

} // namespace yk
