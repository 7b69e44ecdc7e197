// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoveryService: answers RecoveryDone, RecoveryList and ResolveRecovery (interface.md 3.4 and 3.6). A recovery begins
// with a registration.
//
// Owner: Daemon. Thread: workers; what the answers are made of is read on the owner thread of the RM.

#include "ykd/request/call.h"
#include "ykd/service/book_shelf.h"
#include "ykd/service/rm_registry.h"

namespace yk::service {

class RecoveryService {
public:
    struct Parts {
        const RmTable& rms;
        RmRegistry& registry;
        BookShelf& books;
        DaemonState& state;
    };
    explicit RecoveryService(const Parts& parts) : parts_(parts) {}

    void done(const CallPtr& call);
    void list(const CallPtr& call);
    void resolve(const CallPtr& call);

private:
    const Parts parts_;
};

} // namespace yk::service
