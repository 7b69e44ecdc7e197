// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes of MCS as the protocol has them: a row as a value, and a row made or changed as a request says. Pure.

#include <string>

#include "libcore/base/result.h"
#include "libcore/mcs/node.h"
#include "protocol/si/tool_requests.h"
#include "protocol/wire/value.h"

namespace yk::service {

/// `refusal`: why the core refuses it; empty: it does not.
[[nodiscard]] wire::Value value_of(const mcs::Node& row, bool is_registered, const std::string& refusal);

/// The row that a create asks for. The error has the code of the wire, and the path.
[[nodiscard]] Result<mcs::Node> node_of(const si::McsWriteRequest& request);
/// The row after a set, which replaces what the request names; a local node stays one.
[[nodiscard]] Result<mcs::Node> changed_node(const mcs::Node& row, const si::McsWriteRequest& request);

} // namespace yk::service
