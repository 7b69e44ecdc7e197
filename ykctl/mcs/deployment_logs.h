// SPDX-License-Identifier: Apache-2.0
#pragma once
// `deployment logs`: what the commands of a deployment's replicas have written.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

void define_deployment_logs(Command command, Context& context);

} // namespace yk::cli
