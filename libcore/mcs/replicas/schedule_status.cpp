// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/schedule_status.h"

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/mcs/work_tags.h"

namespace yk::mcs {

ApplicationSpec application_spec_of(const Deployment& deployment) {
    return {deployment.partition, deployment.queue, deployment.user, deployment.groups, other_tags_of(deployment.tags)};
}

ReplicaSpec replica_spec_of(const Deployment& deployment) {
    return {deployment.resource, deployment.priority, work_tags_of(deployment.tags)};
}

const ReplicaSpec& ScheduleStatus::spec_of(std::int64_t attempt) const {
    YK_CHECK(!versions.empty(), "a status has the version that is wanted");
    const auto after =
        std::upper_bound(versions.begin(), versions.end(), attempt,
                         [](std::int64_t wanted, const Version& version) { return wanted < version.from_attempt; });
    return after == versions.begin() ? after->spec : std::prev(after)->spec;
}

ScheduleStatus first_status(const Deployment& deployment) {
    return {application_spec_of(deployment), {{0, replica_spec_of(deployment)}}, 0, {}};
}

ScheduleStatus pruned(ScheduleStatus status, const std::vector<Placement>& placements) {
    if (!status.has_outdated()) return status;
    std::int64_t oldest = status.versions.back().from_attempt;
    for (const Placement& each : placements) oldest = std::min(oldest, each.attempt);
    const auto is_in_use = [&](const ScheduleStatus::Version& next) { return next.from_attempt > oldest; };
    const auto second = std::find_if(status.versions.begin() + 1, status.versions.end(), is_in_use);
    status.versions.erase(status.versions.begin(), std::prev(second));
    return status;
}

} // namespace yk::mcs
