#pragma once
// Is there room to run in? With too little address space (ulimit -v, prlimit --as) threads cannot be started, and
// libraries end the process without a word (A10); with too few descriptors connections wait that have a place.

#include <cstdint>
#include <string>

#include "libcore/base/result.h"

namespace yk::service {

/// Tries to have as much as the daemon's threads and an empty scheduler take. An error says how much there may be.
[[nodiscard]] Result<void> check_address_space();

/// Takes as many descriptors as the process is allowed; the soft limit is 1,024 in most shells. A sentence says why
/// that is too few for so many connections; empty: it is not.
[[nodiscard]] std::string take_descriptors(std::uint64_t connections);

} // namespace yk::service
