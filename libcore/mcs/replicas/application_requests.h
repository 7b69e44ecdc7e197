// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a schedule appears in the core: as one application, with an ask for each replica. All of it follows from the row,
// so that what is submitted again after a restart is the same, and nothing is there twice (rs R-126).

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/mcs/deployment_schedule.h"
#include "libcore/mcs/replicas/core_requests.h"
#include "libcore/mcs/replicas/schedule_status.h"

namespace yk::mcs {

/// The tags by which the application of a Deployment is known in the core.
inline constexpr std::string_view kDeploymentIdTag = "mcs.deployment.id", kDeploymentUidTag = "mcs.deployment.uid";
/// The tag by which the built-in configuration and most others place applications: one that has none is of `default`.
inline constexpr std::string_view kNamespaceTag = "namespace", kDefaultNamespace = "default";

/// `mcs-<id>-<first 8 of the uid>`: a Deployment that is made again under its id is another application. One that
/// adopts a schedule goes on with the application that is there.
[[nodiscard]] std::string application_id_of(const rs::ResourceMeta& deployment);
/// Whether an application of this id is one that a Deployment may have had.
[[nodiscard]] bool is_application_of_mcs(std::string_view id);
/// Whether the application of a schedule is one that was made for it, and not that of another one, whose row somebody
/// has copied.
[[nodiscard]] bool has_own_application(const DeploymentSchedule& row);
/// `<application id>/r<replica>.<attempt>`.
[[nodiscard]] std::string allocation_key_of(std::string_view application_id, std::int64_t replica,
                                            std::int64_t attempt);

/// A replica that is to be placed, and is on no node.
[[nodiscard]] Placement pending_placement(std::string_view application_id, std::int64_t replica, std::int64_t attempt);

/// A tag of the user's that has the name of one of the first two above gives way.
[[nodiscard]] AddApplication application_of(const DeploymentSchedule& row, const ApplicationSpec& spec);
/// What the attempt of this placement asks for, or has asked for.
[[nodiscard]] AskReplica ask_of(std::string_view application_id, const ScheduleStatus& status,
                                const Placement& placement);

} // namespace yk::mcs
