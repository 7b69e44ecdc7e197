// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a test that stands in for the daemon reads of a request.

#include "protocol/wire/body_reader.h"
#include "protocol/wire/encoded_request.h"

namespace yk::wire {

/// The body of a request as a tree, with the fields that were sent and no others.
[[nodiscard]] inline Value decoded(const EncodedRequest& request) {
    return request.body.empty() ? Value::object() : decode_value(Body::of_scanned(request.body));
}

} // namespace yk::wire
