// SPDX-License-Identifier: Apache-2.0
#pragma once
// probe(): asks a listener of this machine something over a new connection, as a client would, and waits for the
// answer.

#include <chrono>
#include <string>
#include <string_view>

#include "libcore/base/result.h"

namespace yk::wire {

/// Sends `text` as a request to the server at `url` and waits for any reply, for at most `patience`. Closes its
/// connection in any case. A listener with TLS is asked without TLS: when it ends such a connection in time, it does
/// accept and read.
[[nodiscard]] Result<void> probe(const std::string& url, std::string_view text, std::chrono::milliseconds patience);

/// Whether probe() can be used for `url`: not for port 0, where the system chose the port.
[[nodiscard]] bool can_probe(const std::string& url);

} // namespace yk::wire
