// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which addresses a server may listen at (I-302 to I-304, I-341).

#include "libcore/base/result.h"

namespace yk::wire {

struct ServerOptions;

/// Whether a server with these options may listen. Errors are sentences that name the address and the way out.
[[nodiscard]] Result<void> check_listen_address(const ServerOptions& options);

} // namespace yk::wire
