// SPDX-License-Identifier: Apache-2.0
#pragma once
// The texts that -f names.

#include <iosfwd>
#include <string>
#include <vector>

#include "ykctl/cli/failure.h"

namespace yk::cli {

struct NamedText {
    std::string name; // for messages
    std::string text;
};

/// The text of a file or, for `-`, of standard input, or the texts of the *.yaml, *.yml, *.json and *.jsonl of a
/// directory in the order of their names.
[[nodiscard]] Answer<std::vector<NamedText>> read_files(const std::string& path, std::istream& standard_input);

} // namespace yk::cli
