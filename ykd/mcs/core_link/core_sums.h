// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sums by which the Scheduler and the core compare what they have after a recovery (I-231 to I-233), as the core
// computes its own.

#include "libcore/mcs/scheduler/recovery_sums.h"

namespace yk::service {

[[nodiscard]] std::unique_ptr<mcs::RecoverySums> make_core_sums();

} // namespace yk::service
