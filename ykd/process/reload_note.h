// SPDX-License-Identifier: Apache-2.0
#pragma once
// ReloadNote: how a reload of an RM's configuration, or of peers and tokens, ended; Status shows it.

#include <string>

#include "libcore/base/time.h"

namespace yk::service {

struct ReloadNote {
    Instant at;          // real time
    std::string refusal; // why nothing changed; empty: the reload succeeded
};

} // namespace yk::service
