#pragma once
// A configuration given as a map in a scenario, written out as YAML text again.

#include <string>

#include "libcore/config_yaml/tree.h"

namespace yk::scenario {

/// Text that parses to the same tree, places aside. Scalars in quotes stay in quotes; plain ones that could be a number
/// or a truth value stay as they stood.
[[nodiscard]] std::string to_yaml(const config_yaml::Node& node);

} // namespace yk::scenario
