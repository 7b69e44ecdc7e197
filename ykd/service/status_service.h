// SPDX-License-Identifier: Apache-2.0
#pragma once
// StatusService: answers Status, the daemon at a glance.
//
// Owner: Daemon. Thread: workers.

#include "ykd/configuration/config_files.h"
#include "ykd/observe/health_keeper.h"
#include "ykd/process/identity.h"
#include "ykd/request/call.h"
#include "ykd/request/gather.h"
#include "ykd/rm/rm_contents.h"
#include "ykd/runtime/scheduler_clock.h"
#include "ykd/session/access_files.h"
#include "ykd/state/daemon_state.h"

namespace yk::service {

class StatusService {
public:
    struct Parts {
        const DaemonSettings& settings;
        const Identity& identity;
        const SchedulerClock& clock;
        const RmTable& rms;
        SessionTable& sessions;
        const ConfigFiles& config_files;
        const AccessFiles& access_files;
        const Degraded& degraded;
        const DaemonState& state;
        const HealthKeeper& health;
        Workers& workers;
    };
    explicit StatusService(const Parts& parts) : parts_(parts) {}

    void status(const CallPtr& call);

private:
    [[nodiscard]] Value rm_value(const Rm& rm, const RmFacts& facts) const;
    [[nodiscard]] Value status_value(const std::vector<Gathered<RmContents>>& all) const;

    const Parts parts_;
};

} // namespace yk::service
