// SPDX-License-Identifier: Apache-2.0
#pragma once
// fair: the emptiest node first, so that load spreads.

#include "libcore/policies/node_sort_policy.h"

namespace yk {

inline constexpr NodeSortPolicy kNodeSortFair{"fair", [](const NodeUse& use) noexcept { return use.share; }};

} // namespace yk
