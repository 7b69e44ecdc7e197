// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the tree of a configuration into a config::Document by the schema, reporting every key and value that does not
// belong there (C-002 to C-007).

#include "libcore/config/document.h"
#include "libcore/config_yaml/tree.h"

namespace yk::config_yaml {

[[nodiscard]] config::Document read_document(const Node& root, config::Report& report);

} // namespace yk::config_yaml
