// SPDX-License-Identifier: Apache-2.0
#pragma once
// HealthService: answers Health (interface.md 5.6).
//
// Owner: Daemon. Thread: workers.

#include "ykd/observe/health_keeper.h"
#include "ykd/request/call.h"

namespace yk::service {

class HealthService {
public:
    explicit HealthService(HealthKeeper& keeper) : keeper_(keeper) {}

    void health(const CallPtr& call);

private:
    HealthKeeper& keeper_;
};

} // namespace yk::service
