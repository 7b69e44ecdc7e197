// SPDX-License-Identifier: Apache-2.0
#pragma once
// CommandInfo: the command tree as plain data, for completions, manual pages and their tests.

#include <string>
#include <vector>

namespace yk::cli {

/// What a shell may offer as an option's or positional's value.
enum class ValueKind { None, Text, File, Choice };

struct OptionInfo {
    std::vector<std::string> names; // `-n`, `--count`; for a positional its one name, without dashes
    std::string help;
    std::string value_name; // empty: a flag
    ValueKind value = ValueKind::None;
    std::vector<std::string> choices;
    bool required = false;
    bool repeatable = false;
};

struct CommandInfo {
    std::string name;
    std::vector<std::string> aliases;
    std::string help;
    bool hidden = false;
    std::vector<OptionInfo> options;
    std::vector<OptionInfo> positionals;
    std::vector<CommandInfo> commands;
};

} // namespace yk::cli
