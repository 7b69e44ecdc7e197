// SPDX-License-Identifier: Apache-2.0
#pragma once
// StateFaults: what is wrong with the caches of MCS, in sentences for `degraded` and the log, each with the way out (rs
// R-154, F-24). What is wrong with the database, the leases or the broker is somebody else's to say.

#include <string>

#include "libcore/base/time.h"
#include "libcore/resource_state/settings.h"
#include "libcore/resource_state/state_manager.h"

namespace yk::service {

/// Each is empty when nothing is wrong.
struct StateFaults {
    std::string rows;   // some cannot be understood
    std::string resync; // it is long ago that all rows were read
    std::string start;  // it takes long, or began again and again
};

/// `running_since`: handlers were called from then on; not used before. Thread: the manager's. Cost: O(kinds).
[[nodiscard]] StateFaults faults_of(const rs::StateManager& manager, const rs::Settings& settings,
                                    Instant running_since, Instant now);

} // namespace yk::service
