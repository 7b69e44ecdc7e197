// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command mcs check: looks at a database of deployments that no daemon uses, and mends what it safely can.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

/// `noun`: mcs.
void define_mcs_check(Command noun, Context& context);

} // namespace yk::cli
