// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/health_service.h"

namespace yk::service {

void HealthService::health(const CallPtr& call) {
    const auto request = call->decode<si::HealthRequest>();
    if (!request) return;
    const auto last = keeper_.last();
    if (last && !request->run && !request->invariants) return call->ok(*last);
    const auto thorough = request->invariants ? HealthKeeper::Thorough::All : HealthKeeper::Thorough::Small;
    keeper_.run(thorough, [call](const Value& result) { call->ok(result); });
}

} // namespace yk::service
