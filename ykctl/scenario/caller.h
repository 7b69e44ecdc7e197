// SPDX-License-Identifier: Apache-2.0
#pragma once
// Caller: a function that sends one request to a daemon, so that players can be tested without a daemon.

#include <functional>

#include "protocol/client/client.h"
#include "protocol/rm/daemon_link.h"
#include "protocol/wire/body_reader.h"

namespace yk::scenario {

/// Sends one request, a message of protocol/si or the `{kind, body}` of a file, as Client::call() with its default
/// time-out.
using Caller = std::function<wire::CallResult<wire::Value>(const wire::EncodedRequest& request)>;

/// A Caller that uses `client`, which has to outlive it.
[[nodiscard]] inline Caller caller_of(wire::Client& client) {
    return [&client](const wire::EncodedRequest& request) { return client.call(request); };
}

/// The same over a link.
[[nodiscard]] inline Caller caller_of(rm::DaemonLink& link) {
    return [&link](const wire::EncodedRequest& request) -> wire::CallResult<wire::Value> {
        YK_TRY(answer, link.call(request, rm::kOwnTimeout));
        const auto body = wire::scan_body(answer);
        return body.ok() ? wire::decode_value(*body) : wire::Value::object();
    };
}

} // namespace yk::scenario
