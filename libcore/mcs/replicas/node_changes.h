// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the core has to be asked for so that a node there is as its row is (rs R-125).

#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/node.h"
#include "libcore/mcs/replicas/core_requests.h"

namespace yk::mcs {

/// The attribute of a node that names its partition; without it the node is in `default`.
inline constexpr std::string_view kPartitionAttribute = "si/node-partition";
[[nodiscard]] std::string partition_of(const Node& node);

/// `registered`: the row as the core knows it, nullptr: it does not; `wanted`: as it is now, nullptr: it has gone. In
/// the order in which they are to be asked for: a node that is changed and drained together is drained first, and one
/// that is changed and freed is freed last, so that nothing is placed by what counts no longer.
///
/// A row of another life, or in another partition, is another node for the core.
[[nodiscard]] std::vector<ChangeNode> node_changes(const Node* registered, const Node* wanted);

} // namespace yk::mcs
