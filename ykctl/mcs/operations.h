// SPDX-License-Identifier: Apache-2.0
#pragma once
// The commands mcs resync, reconcile, dead-letters, retry: what an operator does when something seems lost.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

/// `noun`: mcs.
void define_mcs_operations(Command noun, Context& context);

} // namespace yk::cli
