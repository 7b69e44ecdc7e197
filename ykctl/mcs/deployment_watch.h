// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command deployment watch: a line for each change of deployments, as it happens.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

void define_deployment_watch(Command command, Context& context);

} // namespace yk::cli
