// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks at the start that the limits of the process are wide enough. With too little address space (ulimit -v, prlimit
// --as) threads cannot be started, and libraries end the process without a message; with too few descriptors
// connections wait although maxConnections lets them in.

#include <cstdint>
#include <string>

#include "libcore/base/result.h"

namespace yk::service {

/// Tries to reserve as much address space as the daemon's threads and an empty scheduler take. An error says what the
/// limit is, and how much is needed.
[[nodiscard]] Result<void> check_address_space();

/// Raises the soft limit on descriptors, which is 1,024 in most shells, to the hard one. Returns a sentence if that is
/// too few for so many connections, else an empty text.
[[nodiscard]] std::string take_descriptors(std::uint64_t connections);

} // namespace yk::service
