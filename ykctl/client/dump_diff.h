// SPDX-License-Identifier: Apache-2.0
#pragma once
// The difference of two dumps, object by object.

#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/render/style.h"

namespace yk::cli {

/// `{path, old, new}` for each path at which the two differ, without `old` or `new` when one lacks it. Elements of
/// lists are matched by the fields that name them (nodeID, applicationID, allocationKey, queuename, ...), else by
/// position.
[[nodiscard]] std::vector<wire::Value> dump_differences(const wire::Value& before, const wire::Value& after);

/// One difference as a line: `~ data[nodeID=n1].schedulable: true -> false`, `+ path: value`, `- path: value`.
[[nodiscard]] std::string difference_line(const wire::Value& difference, const Style& style);

} // namespace yk::cli
