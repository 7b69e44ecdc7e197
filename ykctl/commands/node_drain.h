// SPDX-License-Identifier: Apache-2.0
#pragma once
// The commands node drain and undrain, and what the other commands of nodes share with them. The reason of --reason is
// an attribute of the node.

#include <string>

#include "protocol/si/messages.h"
#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

void define_node_drain(Command node, Context& context); // drain, undrain

[[nodiscard]] si::NodeInfo action_of(si::NodeAction action);
/// Adds the partition of -p, if that is given, to the attributes.
void put_partition(const Context& context, si::NodeInfo& node);

inline constexpr const char* kDrainReason = "ykd/drain-reason"; // an attribute
/// Why a node is drained, with who did it and when; empty: nobody said.
[[nodiscard]] std::string drain_reason(const wire::Value& node);
/// The attributes of a node of a dump, with that reason; an empty one: with none.
[[nodiscard]] si::StringMap attributes_with(const wire::Value& node, const std::string& reason);

} // namespace yk::cli
