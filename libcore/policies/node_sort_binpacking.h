// SPDX-License-Identifier: Apache-2.0
#pragma once
// binpacking: the fullest node first, so that whole nodes stay empty.

#include "libcore/policies/node_sort_policy.h"

namespace yk {

inline constexpr NodeSortPolicy kNodeSortBinPacking{"binpacking",
                                                    [](const NodeUse& use) noexcept { return 1.0 - use.share; }};

} // namespace yk
