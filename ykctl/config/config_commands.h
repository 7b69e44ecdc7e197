// SPDX-License-Identifier: Apache-2.0
#pragma once
// The commands of config, each in a file of its own.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

void define_config_check(Command config, Context& context);
void define_config_diff(Command config, Context& context);
void define_config_reload(Command config, Context& context);
void define_config_edit(Command config, Context& context);
void define_config_history(Command config, Context& context); // history, rollback

} // namespace yk::cli
