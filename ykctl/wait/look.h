// SPDX-License-Identifier: Apache-2.0
#pragma once
// One look at what the command wait waits for.

#include <string>

#include "ykctl/client/context.h"
#include "ykctl/wait/wanted.h"

namespace yk::cli {

struct Look {
    bool satisfied = false;
    bool hopeless = false; // the condition can never be met any more
    std::string text;      // how it is now: `is Running`, `has 3 asks pending`
};

/// `seen_before`: an earlier look has found the object. Cost: of a queue's counts O(applications).
[[nodiscard]] Answer<Look> look(Context& context, const Wanted& wanted, bool seen_before);

} // namespace yk::cli
