// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the original's REST interface writes otherwise than the dumps of the protocol: applications, events, the
// utilisation of nodes, health, the full dump. Pure.

#include <string>

#include "protocol/wire/value.h"

namespace yk::service {

/// A record as the original has it: nothing that is empty, and an amount as `{"resources":{"memory":{"value":1}}}`.
[[nodiscard]] wire::Value rest_event(const wire::Value& record);
/// An application with the original's words for why its asks wait; one that no rule placed is in no queue.
[[nodiscard]] wire::Value rest_application(wire::Value application);
/// A cluster by the one name that the original has for all of them.
[[nodiscard]] wire::Value rest_cluster(wire::Value cluster);
/// The buckets without what is empty.
[[nodiscard]] wire::Value rest_utilization(wire::Value partition);
/// The health with the original's checks as it words them; those that it does not have are in `FurtherChecks`.
[[nodiscard]] wire::Value rest_health(const wire::Value& health);
/// The full dump with its lists as the original has them, and with this configuration.
[[nodiscard]] wire::Value rest_full_dump(wire::Value dump, wire::Value configuration);

} // namespace yk::service
