#pragma once
// What an ask is short of, in words for people: a type that nobody offers, the whole cluster, a node. Used by pictures
// of asks and by explanations, so that both tell the same.
//
// Pure: reads the partition. Thread: its owner.

#include <string>

#include "libcore/objects/allocation.h"
#include "libcore/resources/resource.h"

namespace yk {

struct PartitionState;

/// `no node offers vcores, did you mean vcore?` for the types of `wanted` that no node has; empty: each has its node.
[[nodiscard]] std::string unoffered_text(const PartitionState& state, const Resource& wanted);

/// Why the last attempt of a pending ask ended, where its log (S-114) has no word for it; empty: none, or the log says
/// it.
[[nodiscard]] std::string last_reason_text(const PartitionState& state, const Allocation& ask);

} // namespace yk
