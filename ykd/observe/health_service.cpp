// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/health_service.h"

namespace yk::service {

void HealthService::health(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const bool run = reader.flag("run");
    if (!call->accepts(reader)) return;
    const auto last = keeper_.last();
    if (last && !run) return call->ok(*last);
    keeper_.run([call](const Value& result) { call->ok(result); });
}

} // namespace yk::service
