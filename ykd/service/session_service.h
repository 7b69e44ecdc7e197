// SPDX-License-Identifier: Apache-2.0
#pragma once
// SessionService: answers Hello, Bye, Ping (interface.md 4.3).
//
// Owner: Daemon. Thread: workers.

#include <optional>

#include "ykd/observe/event_streams.h"
#include "ykd/process/identity.h"
#include "ykd/process/line_limit.h"
#include "ykd/request/call.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/scheduler_clock.h"
#include "ykd/session/access.h"

namespace yk::service {

class SessionService {
public:
    struct Parts {
        const DaemonSettings& settings;
        const Identity& identity;
        const SchedulerClock& clock;
        const RmTable& rms;
        SessionTable& sessions;
        Access& access;
        Connections& connections;
        EventStreams& event_streams;
        LineLimit& line_limit;
    };
    explicit SessionService(const Parts& parts) : parts_(parts) {}

    void hello(const CallPtr& call);
    void bye(const CallPtr& call);
    void ping(const CallPtr& call);

private:
    /// What the peer may do. Nothing: the call is answered with a refusal.
    [[nodiscard]] std::optional<Grant> authenticate(const CallPtr& call, const std::string& token);
    /// The session that the client names to resume, if it is alive, of this boot and of the same identity (I-324).
    [[nodiscard]] SessionPtr resumed_session(const si::HelloRequest& request, const Grant& grant);
    [[nodiscard]] si::HelloReply reply_for(Session& session, bool resumed) const;

    const Parts parts_;
};

} // namespace yk::service
