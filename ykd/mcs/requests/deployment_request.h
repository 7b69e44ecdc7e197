// SPDX-License-Identifier: Apache-2.0
#pragma once
// The row of a Deployment that a request makes or changes, or why there is none. Pure.
//
// A number that a user gives decides how many replicas there are, whatever the policy; without one the Autoscaler does,
// by the policy. The bounds hold for both. A Deployment with neither has one replica.

#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/mcs/deployment.h"
#include "protocol/si/tool_requests.h"
#include "ykd/process/daemon_settings.h"

namespace yk::service {

// Errors have the code of the wire, and the path.

/// Who sends it, as submitter_text() says; a command in the tags is theirs from then on.
struct Submitter {
    std::string text;
};

/// The row that a create asks for; its id is made if it names none.
[[nodiscard]] Result<mcs::Deployment> deployment_of(const si::McsWriteRequest& request, const McsSettings& settings,
                                                    const Submitter& submitter);

/// Whether this verb changes a Deployment that is there, by changed_deployment().
[[nodiscard]] bool is_change(std::string_view verb);
/// The row after the change. REQUIRES: is_change(request.verb).
[[nodiscard]] Result<mcs::Deployment> changed_deployment(const mcs::Deployment& row, const si::McsWriteRequest& request,
                                                         const McsSettings& settings, const Submitter& submitter);

/// The mode that a request names; nullopt: it names none.
[[nodiscard]] Result<std::optional<mcs::DeleteMode>> delete_mode_of(const si::McsBody& body);

} // namespace yk::service
