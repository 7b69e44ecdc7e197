// SPDX-License-Identifier: Apache-2.0
// ykd: parses the command line, runs, returns the code (0 stopped, 1 cannot run, 2 usage, 78 configuration refused).

#include <unistd.h>

#include <iostream>

#include "libcore/config_yaml/load.h"
#include "ykd/daemon/check_config.h"
#include "ykd/daemon/command_line.h"
#include "ykd/daemon/run.h"
#include "ykd/runtime/at_work.h"

namespace {

std::vector<std::string> files_to_check(const yk::service::CommandLine& line) {
    if (!line.check_files.empty()) return line.check_files;
    std::vector<std::string> files;
    for (const auto& [group, file] : line.settings.config_files) files.push_back(file);
    if (!line.settings.default_config_file.empty()) files.push_back(line.settings.default_config_file);
    return files;
}

/// --check-config. The settings file, if there is one, was read with the command line.
int check(const yk::service::CommandLine& line) {
    constexpr int kUsage = 2;
    const auto files = files_to_check(line);
    const std::string& settings = line.settings.settings_file;
    if (files.empty() && settings.empty()) {
        std::cerr << "ykd: --check-config: nothing to check; name a FILE or --config\n";
        return kUsage;
    }
    if (files.empty()) std::cout << settings << ": ok\n";
    return yk::service::check_config(files);
}

} // namespace

int main(int argc, char** argv) {
    using yk::service::Action;
    yk::install_last_words();
    yk::service::block_signals();
    const yk::service::CommandLine line = yk::service::parse_command_line(argc, argv, YK_VERSION);
    switch (line.action) {
    case Action::Done: return line.exit_code;
    case Action::CheckConfig: return check(line);
    case Action::DumpDefaultConfig: std::cout << yk::config_yaml::default_text(); return 0;
    case Action::Run: break;
    }
    const int code = yk::service::run_daemon(line.settings, YK_VERSION);
    std::cout.flush();
    ::_exit(code);
}
