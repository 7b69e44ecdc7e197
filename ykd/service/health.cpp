// Health (interface.md 5.6).

#include "ykd/service/daemon.h"
#include "ykd/service/services.h"

namespace yk::service {

void health(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const bool run = reader.flag("run");
    if (!call->accepts(reader)) return;
    const auto last = call->daemon().health().last();
    if (last && !run) return call->ok(*last);
    call->daemon().health().run(call->daemon(), [call](const Value& result) { call->ok(result); });
}

} // namespace yk::service
