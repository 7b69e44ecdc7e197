#pragma once
// A configuration given as a map in a scenario, written out as YAML text again.

#include <string>

#include "libcore/config_yaml/tree.h"

namespace yk::scenario {

/// Text that parses to the same tree (places aside): scalars as they stood, in quotes where they stood in quotes.
[[nodiscard]] std::string to_yaml(const config_yaml::Node& node);

} // namespace yk::scenario
