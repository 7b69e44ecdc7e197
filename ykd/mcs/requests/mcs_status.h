// SPDX-License-Identifier: Apache-2.0
#pragma once
// What MCS says of itself: kinds of rows, services, the database (rs R-153).

#include "protocol/wire/value.h"
#include "ykd/mcs/mcs_thread.h"

namespace yk::service {

/// `application` nullptr: the database is not open. Thread: that of MCS.
[[nodiscard]] wire::Value status_value(const McsThread& thread, McsApplication* application, Instant now);

} // namespace yk::service
