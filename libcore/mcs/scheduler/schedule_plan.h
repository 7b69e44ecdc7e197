// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is to be written of a schedule so that it is as its Deployment and its scale want it (rs ). Pure.

#include <cstddef>

#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_scale.h"
#include "libcore/mcs/replicas/replica_plan.h"
#include "libcore/mcs/scheduler/schedule_memory.h"

namespace yk::mcs {

struct SchedulePlan {
    DeploymentSchedule row; // as it is to be written, without placements
    ScheduleStatus status;  // of the row
    ReplicaPlan replicas;
    bool is_needed = false; // there is something to write
    bool resubmits = false; // the application is another one, with other texts: it has to be removed in the core first
    bool has_more = false;  // something is left for the next look, once this is written
};

/// A schedule that nobody has written yet, under this Deployment. It has no placements yet.
[[nodiscard]] ScheduleMemory first_memory(const Deployment& deployment);

struct PlanLimits {
    const IsUsable& is_usable;
    std::size_t most = 2'000; // replicas that one write adds or gives up
};

/// REQUIRES: all three are of the same owner.
[[nodiscard]] SchedulePlan plan_schedule(const ScheduleMemory& memory, const Deployment& deployment,
                                         const DeploymentScale& scale, const PlanLimits& limits, Instant now);

} // namespace yk::mcs
