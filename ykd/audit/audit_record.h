// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is said of one request in the audit log.

#include "protocol/wire/envelope.h"
#include "protocol/wire/value.h"
#include "ykd/request/call.h"

namespace yk::service {

/// Whether the end of a call belongs into the log: it changed something, or was refused for lack of rights. Not what a
/// resource manager reports of its own nodes, applications and asks through the session that owns it: that is its
/// work, and no change by a person. Neither what is to be tried again, nor a step of a daemon that is driven by hand.
/// `error`: nullptr, if it succeeded.
[[nodiscard]] bool is_audited(const Call& call, const wire::ErrorReply* error);

/// {who, address, role, client, kind, rmID, what, outcome, error}: `what` names the first few objects, and holds no
/// values of settings and no texts of configurations. Costs as much as decoding the request.
[[nodiscard]] wire::Value audit_record(const Call& call, const wire::ErrorReply* error);

} // namespace yk::service
