#pragma once
// The kinds of Explain that are not about an application's asks, one file each. The reader has read `what`.

#include "protocol/wire/body_reader.h"
#include "ykd/service/call.h"

namespace yk::service {

/// what: placement. Which queue an application would get, rule by rule.
void explain_placement(const CallPtr& call, wire::BodyReader& reader);
/// what: queue. Each effective value of a queue, and where it comes from.
void explain_queue(const CallPtr& call, wire::BodyReader& reader);

} // namespace yk::service
