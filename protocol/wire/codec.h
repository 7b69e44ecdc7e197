// SPDX-License-Identifier: Apache-2.0
#pragma once
// decode<T>() and encode() for the messages of protocol/si: field by field, straight between bytes and structs.
// The name of each field, its rule and whether it is required are data in schema.h, recovery_schema.h and
// tool_schema.h.

#include "protocol/si/messages.h"
#include "protocol/si/recovery_messages.h"
#include "protocol/si/tool_requests.h"
#include "protocol/wire/body.h"
#include "protocol/wire/error.h"
#include "protocol/wire/packer.h"
#include "protocol/wire/scan.h"

namespace yk::wire {

/// The message in `body`. Errors: E_TYPE, E_MISSING_FIELD, E_LIMIT, E_INVALID, always with the path (I-113, I-317).
/// T: every struct of messages.h, recovery_messages.h or tool_requests.h that is a body, a list element or a callback
/// body.
template <class T>
[[nodiscard]] WireResult<T> decode(Body body, DecodeOptions options = {});

/// Appends the message as one map. A field with the value that it has when absent is left out unless it is required.
template <class T>
void encode(Buffer& out, const T& message);

template <class T>
[[nodiscard]] std::string encoded(const T& message) {
    Buffer out;
    encode(out, message);
    return out.str();
}

} // namespace yk::wire
