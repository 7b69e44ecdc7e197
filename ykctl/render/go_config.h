// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration as yunikorn-core's REST interface shows it in JSON (C-474): the names of its Go structs, their order,
// and its habit of keeping empty objects. For programs that read `GET /ws/v1/config` there.

#include "libcore/config/config.h"
#include "protocol/wire/value.h"

namespace yk::cli {

/// `extra` has the service settings and is left out when it is empty. Settings that ykd does not have get the default
/// of the original.
[[nodiscard]] wire::Value go_configuration(const config::Configuration& configuration, const wire::Value& extra);

} // namespace yk::cli
