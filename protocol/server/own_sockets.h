// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts the sockets of this process that belong to an address at which it listens, as the kernel has them. The daemon
// compares the number with what its Server accounts for, to find leaked descriptors.

#include <cstdint>
#include <optional>
#include <string>

namespace yk::wire {

/// Counts the listener and the connections that came to it. Looks at every descriptor of the process, about a
/// microsecond each. nullopt when the number cannot be found out: without /proc, or with a name instead of a port
/// number in `url`.
[[nodiscard]] std::optional<std::uint32_t> own_sockets(const std::string& url);

} // namespace yk::wire
