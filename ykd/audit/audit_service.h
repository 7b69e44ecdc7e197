// SPDX-License-Identifier: Apache-2.0
#pragma once
// AuditService: answers Audit, for admins.
//
// Owner: Daemon. Thread: workers.

#include "ykd/audit/audit_log.h"
#include "ykd/request/call.h"

namespace yk::service {

class AuditService {
public:
    explicit AuditService(AuditLog& log) : log_(log) {}

    void audit(const CallPtr& call);

private:
    AuditLog& log_;
};

} // namespace yk::service
