// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsWatchService: answers McsWatch: what has become of Deployments since the answer before, as soon as something has
// (rs R-160).
//
// Owner: Daemon. Thread: workers; what it asks is carried out on the thread of MCS.

#include "protocol/si/tool_requests.h"
#include "ykd/mcs/mcs_thread.h"
#include "ykd/request/call.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

class McsWatchService {
public:
    McsWatchService(McsThread& mcs, Workers& workers, Duration max_wait)
        : mcs_(mcs), workers_(workers), max_wait_(max_wait) {}

    void watch(const CallPtr& call);

private:
    McsThread& mcs_;
    Workers& workers_;
    const Duration max_wait_;
};

} // namespace yk::service
