// SPDX-License-Identifier: Apache-2.0
#pragma once
// fragmentation: the node first on which the ask leaves the fewest fragments, so that what stays idle can be used.
// Small differences mean nothing, so gains are counted in steps; among equals the order of ids keeps the load together
// (F-030).

#include "libcore/policies/node_sort_policy.h"

namespace yk {

inline constexpr NodeSortPolicy kNodeSortFragmentation{
    "fragmentation", nullptr, [](const NodeChange& change) noexcept { return change.before - change.after; }, 0.04};

} // namespace yk
