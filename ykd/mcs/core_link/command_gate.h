// SPDX-License-Identifier: Apache-2.0
#pragma once
// CommandGate: what stands between the core and the commands of replicas. The core frees what a replica uses as soon as
// it is asked to let the replica go; so it is asked only when the replica's command has ended.
//
// Owner: the program. Thread: that of MCS, for everything here.

#include "libcore/mcs/replicas/core_requests.h"
#include "protocol/si/messages.h"

namespace yk::service {

class CommandGate {
public:
    virtual ~CommandGate() = default;
    /// True: commands that it would free the place of run still. They are ended, and then it is asked for again.
    [[nodiscard]] virtual bool holds(const mcs::CoreRequest& request) = 0;
    /// The same for what the core gave up and wants confirmed: it is confirmed later.
    [[nodiscard]] virtual bool holds(const si::AllocationRelease& release) = 0;
    /// The registration has gone that all this belongs to: what is held is never asked for.
    virtual void forget() = 0;
};

} // namespace yk::service
