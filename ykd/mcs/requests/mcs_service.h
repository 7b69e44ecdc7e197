// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsService: answers McsRead and McsWrite: Deployments and nodes as the caches have them, and the changes that users
// make (rs R-157).
//
// Owner: Daemon. Thread: workers; what it asks is carried out on the thread of MCS.

#include "protocol/si/tool_requests.h"
#include "ykd/mcs/mcs_thread.h"
#include "ykd/process/memory_guard.h"
#include "ykd/request/call.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

class McsService {
public:
    struct Parts {
        McsThread& mcs;
        const MemoryGuard& memory;
        Workers& workers;
    };
    explicit McsService(const Parts& parts) : parts_(parts) {}

    void read(const CallPtr& call);
    void write(const CallPtr& call);

private:
    void list(const CallPtr& call, const si::McsReadRequest& request) const;
    void describe(const CallPtr& call, const si::McsReadRequest& request) const;
    void list_nodes(const CallPtr& call, const si::McsReadRequest& request) const;
    void status(const CallPtr& call) const;
    void inspect(const CallPtr& call, const si::McsReadRequest& request) const;
    void list_dead_letters(const CallPtr& call, const si::McsReadRequest& request) const;
    void operate(const CallPtr& call, const si::McsWriteRequest& request) const;
    void bump_epoch(const CallPtr& call, const si::McsWriteRequest& request) const;
    void create(const CallPtr& call, const si::McsWriteRequest& request) const;
    void change(const CallPtr& call, const si::McsWriteRequest& request) const;
    void push_metric(const CallPtr& call, const si::McsWriteRequest& request) const;
    void erase(const CallPtr& call, const si::McsWriteRequest& request) const;
    void write_node(const CallPtr& call, const si::McsWriteRequest& request) const;
    void create_node(const CallPtr& call, const si::McsWriteRequest& request) const;

    const Parts parts_;
};

} // namespace yk::service
