#pragma once
// probe(): asks a listener of this machine something over a new connection, as a client would, and waits for the
// answer.

#include <chrono>
#include <string>
#include <string_view>

#include "libcore/base/result.h"

namespace yk::wire {

/// Sends `text` as a request to the server at `url` and waits for any reply. Gives everything back in the end, whatever
/// happened. A listener with TLS is asked without it: that it ends such a connection in time shows that it accepts and
/// reads.
[[nodiscard]] Result<void> probe(const std::string& url, std::string_view text, std::chrono::milliseconds patience);

/// Whether probe() can be used: not for a port that the system chose.
[[nodiscard]] bool can_probe(const std::string& url);

} // namespace yk::wire
