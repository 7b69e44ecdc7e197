// SPDX-License-Identifier: Apache-2.0
#pragma once
// ykctl as a function, for main() and the tests.

#include <string>
#include <vector>

#include "ykctl/cli/command_tree.h"
#include "ykctl/cli/settings.h"
#include "ykctl/client/context.h"

namespace yk::cli {

/// Runs one command. `arguments` without the program's name. Returns the exit code, as EXIT STATUS of ykctl(1) has
/// them.
[[nodiscard]] int run(const std::vector<std::string>& arguments, Streams streams, const Environment& environment,
                      const std::string& version);

/// The whole command tree as data.
[[nodiscard]] CommandInfo command_tree();

} // namespace yk::cli
