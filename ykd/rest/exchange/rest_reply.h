// SPDX-License-Identifier: Apache-2.0
#pragma once
// RestReply: what the daemon answered to a request from within. A plain value.

#include <string>

#include "protocol/si/errors.h"
#include "protocol/wire/value.h"

namespace yk::service {

/// The answer to a request: its body, or why there is none.
struct RestReply {
    wire::Value body; // when ok
    bool ok = false;
    si::ErrorCode code = si::ErrorCode::Internal;
    std::string message, path;                   // of a refusal; the path is that of the field which is wrong
    wire::Value details = wire::Value::object(); // of a refusal
};

} // namespace yk::service
