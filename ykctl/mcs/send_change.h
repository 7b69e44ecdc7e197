// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the commands of deployments and of their nodes change something and say so.

#include <string>

#include "ykctl/client/context.h"

namespace yk::cli {

/// Sends a change of the kind that `request` names, prints what was done (`deployment web created`) and returns the
/// reply.
[[nodiscard]] Answer<wire::Value> send_change(Context& context, const si::McsWriteRequest& request,
                                              const std::string& done);

/// Whether the core would take the deployment `item`, as it is shown, in another queue, if `body` names one: what runs
/// ends before the core is asked, so that a queue that is not there would leave nothing running. What the daemon cannot
/// say, as one that does not lead, is no obstacle.
[[nodiscard]] Answer<void> check_queue(Context& context, const wire::Value& item, const si::McsBody& body);

/// The failure of a request for something of `kind`, with what to do next.
[[nodiscard]] Failure with_way_out(Failure failure, const std::string& kind);

} // namespace yk::cli
