// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "libcore/base/text.h"
#include "libcore/policies/placement_rule_fixed.h"
#include "libcore/policies/placement_rule_provided.h"
#include "libcore/policies/placement_rule_tag.h"
#include "libcore/policies/placement_rule_user.h"

namespace yk {
namespace {

constexpr std::array kKinds{
    kPlacementRuleUser,
    kPlacementRuleProvided,
    kPlacementRuleFixed,
    kPlacementRuleTag,
};

} // namespace

std::span<const PlacementRuleKind> placement_rule_kinds() noexcept {
    return kKinds;
}

const PlacementRuleKind* find_placement_rule_kind(std::string_view name) {
    const std::string known = lower(name);
    const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                    [&known](const PlacementRuleKind& kind) { return kind.name == known; });
    return found == kKinds.end() ? nullptr : &*found;
}

} // namespace yk
