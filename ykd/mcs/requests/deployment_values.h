// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deployments as the protocol has them: the rows of one as a value. Pure.

#include <optional>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_scale.h"
#include "libcore/mcs/deployment_schedule.h"
#include "protocol/wire/value.h"
#include "ykd/mcs/local_work/local_work.h"

namespace yk::service {

/// A Deployment with its children, as the caches have them; nullptr: there is none.
struct DeploymentRows {
    rs::Ptr<mcs::Deployment> deployment;
    rs::Ptr<mcs::DeploymentScale> scale;
    rs::Ptr<mcs::DeploymentSchedule> schedule;
    bool hides_secrets = false;                   // from whoever asks: what the variables of its command are
    std::optional<LocalWork::Sums> commands = {}; // of its replicas, where they have some
};

/// Columns by their names; those of the children below `scale` and `schedule`, and only of such as are its own.
[[nodiscard]] wire::Value value_of(const DeploymentRows& rows);
/// What has become of the commands of a schedule's placements, in their order.
using CommandStates = std::vector<std::optional<LocalWork::State>>;

/// The same with what is too long for a list: conditions, and where each replica is.
/// `real_now`: since 1970, as the rows have it.
[[nodiscard]] wire::Value described(const DeploymentRows& rows, Instant real_now, const CommandStates& commands = {});

} // namespace yk::service
