// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/application_requests.h"

namespace yk::mcs {

std::string application_id_of(const rs::ResourceMeta& deployment) {
    constexpr std::size_t kUidLength = 8;
    return "mcs-" + deployment.id + "-" + deployment.uid.substr(0, kUidLength);
}

std::string allocation_key_of(std::string_view application_id, std::int64_t replica, std::int64_t attempt) {
    return std::string{application_id} + "/r" + std::to_string(replica) + "." + std::to_string(attempt);
}

Placement pending_placement(std::string_view application_id, std::int64_t replica, std::int64_t attempt) {
    return {replica, attempt, allocation_key_of(application_id, replica, attempt), {}, PlacementState::Pending, {}};
}

AddApplication application_of(const Deployment& deployment) {
    AddApplication made{application_id_of(deployment.meta),
                        deployment.partition,
                        deployment.queue,
                        deployment.user,
                        deployment.groups,
                        deployment.tags};
    made.tags.insert_or_assign(std::string{kDeploymentIdTag}, deployment.meta.id);
    made.tags.insert_or_assign(std::string{kDeploymentUidTag}, deployment.meta.uid);
    return made;
}

AskReplica ask_of(const Deployment& deployment, const Placement& placement) {
    return {application_id_of(deployment.meta), deployment.partition, placement.allocation_key, deployment.resource,
            deployment.priority};
}

} // namespace yk::mcs
