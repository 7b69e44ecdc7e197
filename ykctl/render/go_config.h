#pragma once
// A configuration as yunikorn-core's REST interface shows it in JSON (C-474): the names of its Go structs, their order,
// and its habit of keeping empty objects. For programs that read `GET /ws/v1/config` there.

#include "libcore/config/config.h"
#include "protocol/wire/value.h"

namespace yk::cli {

/// `extra`: the service settings, left out when empty. What ykd has no counterpart for stands as the original's
/// default.
[[nodiscard]] wire::Value go_configuration(const config::Configuration& configuration, const wire::Value& extra);

} // namespace yk::cli
