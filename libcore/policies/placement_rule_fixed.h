// SPDX-License-Identifier: Apache-2.0
#pragma once
// fixed: the same queue for everybody.

#include "libcore/policies/placement_rule_kind.h"

namespace yk {

inline constexpr PlacementRuleKind kPlacementRuleFixed{
    "fixed", "a fixed queue rule must have a queue name set (key \"value\")",
    "queue", true,
    false,   [](const Applicant&, std::string_view value) -> QueueName { return {std::string{value}}; }};

} // namespace yk
