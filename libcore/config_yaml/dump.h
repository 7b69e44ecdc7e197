// SPDX-License-Identifier: Apache-2.0
#pragma once
// The canonical YAML form of a configuration (C-473, B-07): what `ykctl config show` prints.

#include <string>

#include "libcore/config/config.h"

namespace yk::config_yaml {

/// `partitions`, then `checksum` when there is one. Keys in schema order, quantities in base units, empty values and
/// defaults left out; equal configurations give equal bytes, and load(dump(c)) is c but for positions and checksum.
/// The checksum is one of the text, not of what it means (C-444), and a dump is another text than the one that was
/// written by hand: it is equal from the second time on, when the text that is loaded is a dump itself.
[[nodiscard]] std::string dump(const config::Configuration& configuration);

/// `text` as a YAML scalar on one line that reads as the same text again: plain where that is safe, else quoted.
[[nodiscard]] std::string scalar_text(const std::string& text);

} // namespace yk::config_yaml
