#pragma once
// Caller: one request to a daemon, as a function, so that players can be tested without one.

#include <functional>
#include <string_view>

#include "protocol/transport/client.h"

namespace yk::scenario {

/// As Client::call() with its default timeout.
using Caller = std::function<wire::CallResult<wire::Value>(std::string_view kind, wire::Value body)>;

/// `client` outlives the result.
[[nodiscard]] inline Caller caller_of(wire::Client& client) {
    return [&client](std::string_view kind, wire::Value body) { return client.call(kind, std::move(body)); };
}

} // namespace yk::scenario
