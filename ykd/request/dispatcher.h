// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dispatcher: takes a request through the checks, in the order bytes, envelope, version, session, kind, role, sequence
// number (I-333), and then to its service.
//
// Owner: Daemon. Thread: dispatch_at_once() the one that received the request, the others any.

#include "ykd/process/line_limit.h"
#include "ykd/process/listener_watch.h"
#include "ykd/request/call.h"
#include "ykd/request/kind_table.h"
#include "ykd/runtime/deadlines.h"
#include "ykd/runtime/workers.h"
#include "ykd/session/access.h"

namespace yk::service {

class Dispatcher {
public:
    struct Parts {
        const KindTable& kinds;
        SessionTable& sessions;
        Connections& connections;
        LineLimit& line_limit;
        const ListenerWatch& listener_watch;
        Deadlines& deadlines;
        Workers &workers, &long_workers;
    };
    explicit Dispatcher(const Parts& parts) : parts_(parts) {}

    /// Has a worker take a new request through all checks and run it, unless it has to wait for its turn.
    void dispatch_later(const CallPtr& call);
    /// As dispatch_later(), but a short request is done here, if nobody waits for a worker. The calling thread holds no
    /// lock.
    void dispatch_at_once(const CallPtr& call);
    /// Has a worker run a call whose turn has come, in its session or among large answers.
    void execute_later(const CallPtr& call);

private:
    void dispatch(const CallPtr& call);
    void dispatch_decoded(const CallPtr& call);
    [[nodiscard]] bool is_short(const Call& call) const;
    // One check each. False: the call was answered, was dropped, or waits for its turn.
    bool decode(const CallPtr& call);
    bool find_session(const CallPtr& call);
    bool check_kind(const CallPtr& call);
    bool take_turn(const CallPtr& call);
    bool enter_large_answers(const CallPtr& call);

    void execute(const CallPtr& call);
    [[nodiscard]] bool is_long(const Call& call) const { return parts_.kinds.at(call.kind).length == Length::Long; }
    void log_garbage(const std::string& address);
    [[nodiscard]] bool is_same_identity(const Call& call, const Session& session);
    /// Refuses the held calls of a session for which an earlier number did not come in time.
    void expire_held(const SessionPtr& session);
    void expire_held_at(const SessionPtr& session, SteadyClock::time_point at);

    const Parts parts_;
};

} // namespace yk::service
