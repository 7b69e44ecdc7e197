// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a configuration that a scenario contains as a map as YAML text again.

#include <string>

#include "libcore/config_yaml/tree.h"

namespace yk::scenario {

/// Text that parses to the same tree, except for positions. Scalars in quotes stay in quotes; plain scalars that could
/// be a number or a truth value are not changed.
[[nodiscard]] std::string to_yaml(const config_yaml::Node& node);

} // namespace yk::scenario
