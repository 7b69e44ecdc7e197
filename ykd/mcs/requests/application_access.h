// SPDX-License-Identifier: Apache-2.0
#pragma once
// How requests come to the state of MCS, which is on a thread of its own.

#include <functional>
#include <string>

#include "ykd/mcs/mcs_thread.h"
#include "ykd/mcs/requests/deployment_values.h"
#include "ykd/request/call.h"

namespace yk::service {

/// Whether this daemon keeps deployments; else the call was answered.
[[nodiscard]] bool is_hosted(const McsThread& mcs, const CallPtr& call);
/// Has `use` called on the thread of MCS, once its caches are filled; before that the call is answered.
void with_application(McsThread& mcs, const CallPtr& call,
                      std::function<void(McsApplication& application, Instant now)> use);
/// A Deployment with its children. Thread: that of MCS.
[[nodiscard]] DeploymentRows rows_of(const McsApplication& application, rs::Ptr<mcs::Deployment> deployment,
                                     const Call& call);

[[nodiscard]] bool is_of_admin(const Call& call);
/// Who sends it, as submitter_text() says.
[[nodiscard]] std::string submitter_of(const Call& call);

} // namespace yk::service
