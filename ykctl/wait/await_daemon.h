// SPDX-License-Identifier: Apache-2.0
#pragma once
// Waits for a daemon that is being started: `ykctl wait daemon`, `ykctl ping --wait`.

#include <chrono>

#include "ykctl/client/context.h"

namespace yk::cli {

/// Ok: the daemon has answered; Interrupted: by a signal. Failures that starting it does not mend come at once.
[[nodiscard]] Outcome await_daemon(Context& context, std::chrono::milliseconds limit);

} // namespace yk::cli
