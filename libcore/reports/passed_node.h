// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "libcore/ports/explain.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// Why an ask of the shape goes to another node than the emptiest, where the node policy weighs what each ask leaves
/// idle (F-034); nullopt: it does not, or they are the same. Keeps no ask waiting. Cost: a few passes over the nodes.
[[nodiscard]] std::optional<ExplainReason> passed_node(const PartitionState& state, const Shape& shape);

} // namespace yk
