#pragma once
// Is there room to run in? With too little address space (ulimit -v, prlimit --as) threads cannot be started, and
// libraries end the process without a word (A10).

#include "libcore/base/result.h"

namespace yk::service {

/// Tries to have as much as the daemon's threads and an empty scheduler take. An error says how much there may be.
[[nodiscard]] Result<void> check_address_space();

} // namespace yk::service
