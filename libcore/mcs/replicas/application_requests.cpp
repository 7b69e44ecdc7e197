// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/application_requests.h"

namespace yk::mcs {

namespace {

constexpr std::size_t kUidLength = 8;

[[nodiscard]] std::string prefix_of(const std::string& id) {
    return "mcs-" + id + "-";
}

} // namespace

std::string application_id_of(const rs::ResourceMeta& deployment) {
    return prefix_of(deployment.id) + deployment.uid.substr(0, kUidLength);
}

bool is_application_of_mcs(std::string_view id) {
    constexpr std::string_view kStart = "mcs-";
    if (!id.starts_with(kStart) || id.size() <= kStart.size() + 1 + kUidLength) return false;
    const std::string_view end = id.substr(id.size() - kUidLength - 1);
    return end.front() == '-' && end.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

bool has_own_application(const DeploymentSchedule& row) {
    const std::string prefix = prefix_of(row.meta.id);
    return row.application_id.starts_with(prefix) && row.application_id.size() <= prefix.size() + kUidLength;
}

std::string allocation_key_of(std::string_view application_id, std::int64_t replica, std::int64_t attempt) {
    return std::string{application_id} + "/r" + std::to_string(replica) + "." + std::to_string(attempt);
}

Placement pending_placement(std::string_view application_id, std::int64_t replica, std::int64_t attempt) {
    return {replica, attempt, allocation_key_of(application_id, replica, attempt), {}, PlacementState::Pending, {}};
}

AddApplication application_of(const DeploymentSchedule& row, const ApplicationSpec& spec) {
    AddApplication made{row.application_id, spec.partition, spec.queue, spec.user, spec.groups, spec.tags};
    made.tags.emplace(kNamespaceTag, kDefaultNamespace);
    made.tags.insert_or_assign(std::string{kDeploymentIdTag}, row.owner.id);
    made.tags.insert_or_assign(std::string{kDeploymentUidTag}, row.owner.uid);
    return made;
}

AskReplica ask_of(std::string_view application_id, const ScheduleStatus& status, const Placement& placement) {
    const ReplicaSpec& spec = status.spec_of(placement.attempt);
    return {std::string{application_id}, status.application.partition, placement.allocation_key, spec.resource,
            spec.priority};
}

} // namespace yk::mcs
