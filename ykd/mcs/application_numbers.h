// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of MCS for Metrics (rs R-152).

#include "ykd/mcs/mcs_application.h"
#include "ykd/observe/mcs_numbers.h"

namespace yk::service {

/// Thread: that of MCS. Cost: O(Deployments).
[[nodiscard]] McsNumbers numbers_of(McsApplication& application, Instant now);

} // namespace yk::service
