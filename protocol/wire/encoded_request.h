// SPDX-License-Identifier: Apache-2.0
#pragma once
// EncodedRequest: a request as a client hands it to the transport. Made from a message of protocol/si, or from a kind
// and a generic body that came from a file.

#include <chrono>
#include <concepts>
#include <string>
#include <string_view>

#include "protocol/si/kinds.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/value.h"

namespace yk::wire {

/// A message of protocol/si that is the body of a request.
template <class T>
concept RequestMessage = requires {
    { T::kKind } -> std::convertible_to<si::Kind>;
};

/// Owns its body. Messages convert to it, so that whatever takes an EncodedRequest takes each of them.
struct EncodedRequest {
    template <RequestMessage T>
    EncodedRequest(const T& message) : kind(si::info(T::kKind).name), body(encoded(message)) {
        if constexpr (requires { message.waits(); })
            if (!message.waits()) return;
        if constexpr (requires { message.wait_ms; }) wait = std::chrono::milliseconds{message.wait_ms};
    }
    /// The name is kept as a view: a literal.
    EncodedRequest(std::string_view kind_name, const Value& generic_body);

    std::string_view kind;
    std::string body;                  // one map; empty: as an empty map
    std::chrono::milliseconds wait{0}; // how long the daemon is asked to wait before it answers
};

} // namespace yk::wire
