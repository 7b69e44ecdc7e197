// SPDX-License-Identifier: Apache-2.0
#pragma once
// AdminService: answers Step, Clock, Shutdown (I-351, I-353).
//
// Owner: Daemon. Thread: workers.

#include <functional>

#include "ykd/process/daemon_settings.h"
#include "ykd/request/call.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/scheduler_clock.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

class AdminService {
public:
    struct Parts {
        const DaemonSettings& settings;
        const RmTable& rms;
        SchedulerClock& clock;
        Workers& workers;
        std::function<void(SteadyClock::duration grace)> request_stop; // ends the program
    };
    explicit AdminService(Parts parts) : parts_(std::move(parts)) {}

    void step(const CallPtr& call);
    void advance_clock(const CallPtr& call);
    void shut_down(const CallPtr& call);

private:
    const Parts parts_;
};

} // namespace yk::service
