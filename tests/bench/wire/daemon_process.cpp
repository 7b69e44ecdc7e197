// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/wire/daemon_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace yk::bench {

namespace {

std::string content(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

/// In the child; does not return.
[[noreturn]] void become(const std::string& program, const std::string& folder, bool with_state) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const std::string settings = folder + "/settings";
    const std::string url = "ipc://" + folder + "/socket";
    const int log = open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    const char* const last = with_state ? "--state" : nullptr;
    execl(program.c_str(), program.c_str(), "--listen", url.c_str(), "--settings", settings.c_str(), "--log-level",
          "warn", "--log-target", "stderr", last, folder.c_str(), nullptr);
    _exit(127);
}

} // namespace

Result<std::unique_ptr<DaemonProcess>> DaemonProcess::start(const std::string& program, bool with_state,
                                                            const std::string& settings) {
    if (access(program.c_str(), X_OK) != 0)
        return Error::at(program,
                         fmt::format("cannot be run ({}); build it, or name it with --ykd", std::strerror(errno)));
    std::array<char, 32> name{"/tmp/yk-bench-XXXXXX"};
    if (mkdtemp(name.data()) == nullptr) return Error::at(name.data(), "cannot make a folder");
    const std::string folder = name.data();
    std::ofstream{folder + "/settings"} << settings; // mostly empty: the defaults, and not those of this machine
    std::unique_ptr<DaemonProcess> daemon{new DaemonProcess{program, folder, with_state}};
    YK_CHECKED(daemon->launch());
    return daemon;
}

Result<void> DaemonProcess::launch() {
    pid_ = fork();
    if (pid_ < 0) return Error::of("cannot fork");
    if (pid_ == 0) become(program_, folder_, with_state_);
    return {};
}

void DaemonProcess::end(int signal) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void DaemonProcess::signal(int number) const {
    if (pid_ > 0) kill(pid_, number);
}

Result<void> DaemonProcess::kill_and_start() {
    end(SIGKILL);
    return launch();
}

DaemonProcess::~DaemonProcess() {
    end(SIGTERM);
    std::error_code ignored; // a folder left in /tmp harms nothing
    std::filesystem::remove_all(folder_, ignored);
}

std::string DaemonProcess::log() const {
    return content(folder_ + "/log");
}

double DaemonProcess::cpu_seconds() const {
    const std::string stat = content(fmt::format("/proc/{}/stat", pid_));
    const char* at = stat.c_str() + stat.rfind(')') + 2; // the state, field 3
    for (int field = 3; field < 14 && *at != '\0'; ++at) field += *at == ' ' ? 1 : 0;
    char* after = nullptr;
    const unsigned long user = std::strtoul(at, &after, 10);
    const unsigned long system = std::strtoul(after, nullptr, 10);
    return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::uint64_t DaemonProcess::peak_rss() const {
    const std::string status = content(fmt::format("/proc/{}/status", pid_));
    const std::size_t at = status.find("VmHWM:");
    return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 6, nullptr, 10) * 1024;
}

} // namespace yk::bench
