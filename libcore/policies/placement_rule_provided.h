// SPDX-License-Identifier: Apache-2.0
#pragma once
// provided: the queue that the application asked for.

#include "libcore/policies/placement_rule_kind.h"

namespace yk {

inline constexpr PlacementRuleKind kPlacementRuleProvided{
    "provided", {}, {}, false, true, [](const Applicant& applicant, std::string_view) -> QueueName {
        if (applicant.queue.empty()) return {"no queue was asked for", false};
        return {std::string{applicant.queue}};
    }};

} // namespace yk
