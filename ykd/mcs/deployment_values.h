// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deployments as the protocol has them: the rows of one as a value, and a row made of what a request says. Pure.

#include <optional>
#include <string>

#include "libcore/base/result.h"
#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_scale.h"
#include "libcore/mcs/deployment_schedule.h"
#include "protocol/si/errors.h"
#include "protocol/si/tool_requests.h"
#include "protocol/wire/value.h"
#include "ykd/process/daemon_settings.h"

namespace yk::service {

/// A Deployment with its children, as the caches have them; nullptr: there is none.
struct DeploymentRows {
    rs::Ptr<mcs::Deployment> deployment;
    rs::Ptr<mcs::DeploymentScale> scale;
    rs::Ptr<mcs::DeploymentSchedule> schedule;
};

/// Columns by their names; those of the children below `scale` and `schedule`, and only of such as are its own.
[[nodiscard]] wire::Value value_of(const DeploymentRows& rows);
/// The same with what is too long for a list: conditions, and where each replica is.
/// `real_now`: since 1970, as the rows have it.
[[nodiscard]] wire::Value described(const DeploymentRows& rows, Instant real_now);

/// The row that a create asks for; its id is made if it names none. The error has the code of the wire, and the path.
[[nodiscard]] Result<mcs::Deployment> deployment_of(const si::McsWriteRequest& request, const McsSettings& settings);
/// Whether a Deployment may be given so many replicas.
[[nodiscard]] Result<void> check_replicas(std::uint64_t replicas, std::int64_t least, std::int64_t most);
/// The mode that a request names; nullopt: it names none.
[[nodiscard]] Result<std::optional<mcs::DeleteMode>> delete_mode_of(const si::McsBody& body);

// --- what holds of every row that a user writes ----------------------------------------------------

[[nodiscard]] Error fault(si::ErrorCode code, std::string message, std::string path);
/// Whether it may be the id or the name of a row.
[[nodiscard]] Result<void> check_name(const std::string& name, const char* path);
/// Amounts that are not negative.
[[nodiscard]] Result<mcs::Amounts> amounts_of(const si::Resources& resource);

} // namespace yk::service
