#pragma once
// The parts of `explain` that are about the configuration.

#include "ykctl/commands/command.h"
#include "ykctl/commands/context.h"

namespace yk::cli {

void define_explain_rules(Command explain, Context& context); // explain queue, explain placement

} // namespace yk::cli
