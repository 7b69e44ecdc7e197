#pragma once
// The command line of ykd: flags over the settings file over defaults (ecosystem.md 4.3, C-469).

#include <string>
#include <vector>

#include "ykd/service/daemon_settings.h"

namespace yk::service {

enum class Action { Run, CheckConfig, DumpDefaultConfig, Done };

struct CommandLine {
    Action action = Action::Run;
    int exit_code = 0; // for Done
    DaemonSettings settings;
    std::vector<std::string> check_files; // CheckConfig: those named; empty: all of the settings
};

/// Parses arguments and reads the settings file. Messages go to stdout and stderr; Done carries the exit code: 2 usage,
/// 78 settings refused.
[[nodiscard]] CommandLine parse_command_line(int argc, char** argv, const std::string& version);

} // namespace yk::service
