// SPDX-License-Identifier: Apache-2.0
// ykctl: the command line of ykd. All its code is in yk_cli; see ykctl/commands/run_command_line.h.

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include "ykctl/commands/run_command_line.h"

namespace {

yk::cli::TerminalSize terminal_size() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
    return {size.ws_col, size.ws_row};
}

} // namespace

int main(int argc, char** argv) {
    std::ios::sync_with_stdio(false);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const auto environment = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        if (value == nullptr || *value == '\0') return std::nullopt;
        return value;
    };
    return yk::cli::run(
        arguments,
        {std::cin, std::cout, std::cerr, ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1, terminal_size},
        environment, YK_VERSION);
}
