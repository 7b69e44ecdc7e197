#pragma once
// ykctl as a function: what main() calls, and the tests.

#include <string>
#include <vector>

#include "ykctl/commands/command_tree.h"
#include "ykctl/commands/context.h"
#include "ykctl/commands/settings.h"

namespace yk::cli {

/// Runs one command. `arguments` without the program's name. Returns the exit code of ecosystem.md 4.2.
[[nodiscard]] int run(const std::vector<std::string>& arguments, Streams streams, const Environment& environment,
                      const std::string& version);

/// The whole command tree as data.
[[nodiscard]] CommandInfo command_tree();

} // namespace yk::cli
