// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which texts of a row are no texts: SQLite keeps any bytes in a column of texts, and neither the wire, nor a broker,
// nor a JSON text carries bytes that are not UTF-8. Columns of JSON are not looked at: reading a row refuses such bytes
// there.

#include <string_view>

#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_scale.h"
#include "libcore/mcs/deployment_schedule.h"
#include "libcore/mcs/node.h"

namespace yk::mcs {

/// The first column that is not UTF-8; empty: there is none.
[[nodiscard]] std::string_view column_not_utf8(const Deployment& row);
[[nodiscard]] std::string_view column_not_utf8(const DeploymentScale& row);
/// Of its placements, too.
[[nodiscard]] std::string_view column_not_utf8(const DeploymentSchedule& row);
[[nodiscard]] std::string_view column_not_utf8(const Node& row);

} // namespace yk::mcs
