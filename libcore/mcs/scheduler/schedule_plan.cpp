// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/schedule_plan.h"

#include <algorithm>
#include <utility>

#include "libcore/mcs/replicas/application_requests.h"

namespace yk::mcs {
namespace {

/// The row without its placements, of which there may be many.
[[nodiscard]] DeploymentSchedule columns_of(const DeploymentSchedule& row) {
    DeploymentSchedule columns;
    columns.meta = row.meta;
    columns.owner = row.owner;
    columns.application_id = row.application_id;
    columns.observed_scale_version = row.observed_scale_version;
    columns.desired = row.desired;
    columns.state = row.state;
    return columns;
}

[[nodiscard]] ReplicaCounts counts_after(const ScheduleMemory& memory, const PlacementWriter::Changes& changes) {
    ReplicaCounts counts = memory.counts;
    for (const PlacementChange& each : changes) {
        if (const Placement* const before = memory.find(each.replica)) counts.remove(before->state);
        if (each.placement) counts.add(each.placement->state);
    }
    return counts;
}

/// The application is to have other texts: everything begins anew, with what is wanted now.
void plan_other_application(SchedulePlan& plan, const ScheduleMemory& memory, const Deployment& deployment) {
    plan.replicas = plan_resubmission(memory.row, plan.status.attempts());
    plan.status.application = application_spec_of(deployment);
    plan.status.versions = {{plan.replicas.attempts.current, replica_spec_of(deployment)}};
    plan.status.next_attempt = plan.replicas.attempts.next;
    plan.resubmits = true;
}

/// What replicas ask for has changed; those that are there are restarted one after the other.
void plan_other_replicas(SchedulePlan& plan, const ScheduleMemory& memory, const Deployment& deployment) {
    const Attempts attempts = outdated(memory.row, plan.status.attempts());
    plan.status.next_attempt = attempts.next;
    plan.status.versions.push_back({attempts.current, replica_spec_of(deployment)});
}

void plan_replicas(SchedulePlan& plan, const ScheduleMemory& memory, std::int64_t wanted, const PlanLimits& limits) {
    plan.replicas = plan_scale(memory.row, plan.status.attempts(), wanted, limits.is_usable, limits.most);
    if (!plan.replicas.is_empty()) {
        plan.has_more = true;
        return;
    }
    if (plan.status.has_outdated())
        plan.replicas = plan_restarts(memory.row, plan.status.attempts(), most_unavailable(wanted));
}

/// Whether the database has the row like this; its placements apart.
[[nodiscard]] bool is_written(const ScheduleMemory& memory, const SchedulePlan& plan) {
    return memory.is_there && !memory.after_write.is_due && memory.row.desired == plan.row.desired &&
           memory.row.state == plan.row.state && memory.status == plan.status;
}

} // namespace

ScheduleMemory first_memory(const Deployment& deployment) {
    ScheduleMemory made;
    made.row.meta.id = deployment.meta.id;
    made.row.owner = {kDeploymentKind, deployment.meta.id, deployment.meta.uid};
    made.row.application_id = application_id_of(deployment.meta);
    made.status = first_status(deployment);
    return made;
}

SchedulePlan plan_schedule(const ScheduleMemory& memory, const Deployment& deployment, const DeploymentScale& scale,
                           const PlanLimits& limits, Instant now) {
    const std::int64_t wanted = std::max<std::int64_t>(scale.desired, 0);
    SchedulePlan plan{columns_of(memory.row), pruned(memory.status, memory.row.placements), {}};
    plan.status.message = memory.message;
    if (plan.status.application != application_spec_of(deployment)) {
        plan_other_application(plan, memory, deployment);
        plan.has_more = true;
    } else {
        if (plan.status.versions.back().spec != replica_spec_of(deployment))
            plan_other_replicas(plan, memory, deployment);
        plan_replicas(plan, memory, wanted, limits);
        plan.status.next_attempt = plan.replicas.attempts.next;
    }
    plan.row.observed_scale_version = scale.meta.version;
    plan.row.desired = wanted;
    plan.row.state = memory.state(wanted, counts_after(memory, plan.replicas.changes), now);
    plan.is_needed = !plan.replicas.is_empty() || !is_written(memory, plan);
    return plan;
}

} // namespace yk::mcs
