// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the commands of a Deployment's replicas have written, for McsRead `logs`. It may hold anything, so it is for
// admins, and for whoever gave the command.

#include "protocol/si/tool_requests.h"
#include "ykd/mcs/mcs_thread.h"
#include "ykd/request/call.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

/// Answers the call: without a cursor with the replicas and how much each has written, with one with what was written
/// from there on. The files are read on a worker.
void read_logs(McsThread& mcs, Workers& workers, const CallPtr& call, const si::McsReadRequest& request);

} // namespace yk::service
