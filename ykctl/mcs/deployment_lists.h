// SPDX-License-Identifier: Apache-2.0
#pragma once
// The commands deployment list and show.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

void define_deployment_list(Command command, Context& context);
void define_deployment_show(Command command, Context& context);

} // namespace yk::cli
