// SPDX-License-Identifier: Apache-2.0
#pragma once
// user: the queue has the name of the user.

#include "libcore/policies/placement_rule_kind.h"

namespace yk {

inline constexpr PlacementRuleKind kPlacementRuleUser{
    "user", {},
    {},     false,
    false,  [](const Applicant& applicant, std::string_view) -> QueueName {
        return {std::string{applicant.user}}; }};

} // namespace yk
