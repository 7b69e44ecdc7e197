// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of ykd. A flag wins over the settings file, and that over the default (C-469).

#include <string>
#include <vector>

#include "ykd/process/daemon_settings.h"

namespace yk::service {

enum class Action { Run, CheckConfig, DumpDefaultConfig, Done };

struct CommandLine {
    Action action = Action::Run;
    int exit_code = 0; // for Done
    DaemonSettings settings;
    std::vector<std::string> check_files; // for CheckConfig: the files named; empty: all that the settings name
};

/// Parses the arguments and reads the settings file. Messages go to stdout and stderr. With Done comes the exit code,
/// for example 2 for wrong usage and 78 for settings that are refused.
[[nodiscard]] CommandLine parse_command_line(int argc, char** argv, const std::string& version);

} // namespace yk::service
