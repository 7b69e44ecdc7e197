// SPDX-License-Identifier: Apache-2.0
#pragma once
// UpdateService: answers UpdateAllocation, UpdateApplication, UpdateNode. The request moves into the RM's mailbox as it
// was decoded; the owner thread translates and applies it. The answer means "accepted" (I-335) and does not wait for
// that.
//
// Owner: Daemon. Thread: workers.

#include "ykd/process/daemon_settings.h"
#include "ykd/process/memory_guard.h"
#include "ykd/request/call.h"
#include "ykd/request/user_lookup.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/scheduler_clock.h"

namespace yk::service {

class UpdateService {
public:
    struct Parts {
        const DaemonSettings& settings;
        const RmTable& rms;
        const MemoryGuard& memory;
        const SchedulerClock& clock;
        UserLookup& users;
    };
    explicit UpdateService(const Parts& parts) : parts_(parts) {}

    void update_allocation(const CallPtr& call);
    void update_application(const CallPtr& call);
    void update_node(const CallPtr& call);

private:
    template <class Message>
    void update(const CallPtr& call);
    /// Whether MCS hears of the update, if it is one of its own RM. False: the call was answered.
    template <class Message>
    [[nodiscard]] bool is_heard(const CallPtr& call, const Message& message) const;
    /// Whether there is memory for the update. False: the call was answered.
    template <class Message>
    [[nodiscard]] bool is_admitted(const CallPtr& call, const RmPtr& rm, const Message& message,
                                   const Load& load) const;
    /// Submits the request once the groups of all its users are known.
    void submit_with_users(const CallPtr& call, const RmPtr& rm, si::ApplicationRequest request, const Load& load);
    /// Submits it after the name service has answered. Everything is checked again, as much may have changed meanwhile.
    void submit_later(const CallPtr& call, si::ApplicationRequest request, Load load, LookedUp answers, Instant asked);

    const Parts parts_;
};

} // namespace yk::service
