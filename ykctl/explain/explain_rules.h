// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of `explain` that are about the configuration.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

void define_explain_rules(Command explain, Context& context); // explain queue, explain placement

} // namespace yk::cli
