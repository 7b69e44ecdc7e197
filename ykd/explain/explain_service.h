// SPDX-License-Identifier: Apache-2.0
#pragma once
// ExplainService: answers Explain (I-354). Each kind is in a file of its own (explain_kinds.h).
//
// Owner: Daemon. Thread: workers.

#include "ykd/explain/explain_kinds.h"

namespace yk::service {

class ExplainService {
public:
    explicit ExplainService(const ExplainParts& parts) : parts_(parts) {}

    void explain(const CallPtr& call);

private:
    const ExplainParts parts_;
};

} // namespace yk::service
