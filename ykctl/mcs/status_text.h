// SPDX-License-Identifier: Apache-2.0
#pragma once
// How MCS is, as `ykctl mcs status` shows it to people: what is wrong comes first.

#include <string>

#include "protocol/wire/value.h"
#include "ykctl/render/style.h"

namespace yk::cli {

/// `status`: the answer to McsRead of the status.
[[nodiscard]] std::string mcs_status_text(const wire::Value& status, const Style& style);

} // namespace yk::cli
