#pragma once
// How many sockets of this process belong to an address that it listens at, as the kernel sees them: to be compared
// with what a Server accounts for.

#include <cstdint>
#include <optional>
#include <string>

namespace yk::wire {

/// The listener and the connections that came to it. Looks at every descriptor of the process: about a microsecond
/// each. Nothing when it cannot be found out (no /proc, a name instead of a number in the address).
[[nodiscard]] std::optional<std::uint32_t> own_sockets(const std::string& url);

} // namespace yk::wire
