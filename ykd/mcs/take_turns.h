// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the thread of MCS divides its time between what needs the database and what does not.

#include "libcore/base/time.h"
#include "libcore/resource_state/state_manager.h"

namespace yk::service {

/// Has the manager do what needs no call of a port, such as calling handlers, for some milliseconds. However much there
/// is of it, the caller comes to the calls in between, and the log is followed; and however many calls there are, what
/// they bring is handed on soon. False: there was nothing to do.
[[nodiscard]] bool take_turns(rs::StateManager& manager, Instant now);

} // namespace yk::service
