// SPDX-License-Identifier: Apache-2.0
#pragma once
// Completion scripts, made from a walk over the command tree so that they never drift from it.

#include <string>

#include "ykctl/cli/command_tree.h"

namespace yk::cli {

[[nodiscard]] std::string bash_completion(const CommandInfo& root);
[[nodiscard]] std::string zsh_completion(const CommandInfo& root);
[[nodiscard]] std::string fish_completion(const CommandInfo& root);

} // namespace yk::cli
