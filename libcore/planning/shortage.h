// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an ask is short of, in words for people: a type that nobody offers, the whole cluster, a node. Shared by
// snapshots of asks and by explanations, so that they cannot disagree.
//
// Pure: reads the partition. Thread: its owner.

#include <string>

#include "libcore/model/allocation.h"
#include "libcore/resources/resource.h"

namespace yk {

struct PartitionState;

/// `no node offers vcores, did you mean vcore?` for the types of `wanted` that no node has; empty: each has its node.
[[nodiscard]] std::string unoffered_text(const PartitionState& state, const Resource& wanted);

/// Why the last attempt of a pending ask failed; empty: no attempt failed, or its log says why (S-114).
[[nodiscard]] std::string last_reason_text(const PartitionState& state, const Allocation& ask);

} // namespace yk
