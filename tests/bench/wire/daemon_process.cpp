// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/wire/daemon_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

constexpr const char* kToken = "bench";
constexpr const char* kTokenLine = "admin * 1b32c28cb38c05480eccc1bd60ff97029b57a05c96718b96dad7e9d84894f549\n";

/// In the child; does not return.
[[noreturn]] void become(std::vector<std::string>& arguments, const std::string& log_file) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int log = open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    std::vector<char*> pointers;
    for (std::string& each : arguments) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    execv(pointers.front(), pointers.data());
    _exit(127);
}

/// A port of 127.0.0.1 that nobody listens at; 0: there is none.
int free_port() {
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    const bool found = bind(probe, plain, size) == 0 && getsockname(probe, plain, &size) == 0;
    close(probe);
    return found ? ntohs(address.sin_port) : 0;
}

} // namespace

Result<std::unique_ptr<DaemonProcess>> DaemonProcess::start(const std::string& program, const DaemonSetup& setup) {
    if (access(program.c_str(), X_OK) != 0)
        return Error::at(program,
                         fmt::format("cannot be run ({}); build it, or name it with --ykd", std::strerror(errno)));
    std::array<char, 32> name{"/tmp/yk-bench-XXXXXX"};
    if (mkdtemp(name.data()) == nullptr) return Error::at(name.data(), "cannot make a folder");
    const std::string folder = name.data();
    std::ofstream{folder + "/settings"} << setup.settings; // mostly empty: the defaults, not those of this machine
    std::ofstream{folder + "/tokens"} << kTokenLine;
    std::filesystem::permissions(folder + "/tokens", std::filesystem::perms::owner_read);
    const int port = setup.has_tcp ? free_port() : 0;
    if (setup.has_tcp && port == 0) return Error::of("there is no free port at 127.0.0.1");
    std::unique_ptr<DaemonProcess> daemon{new DaemonProcess{program, folder, setup.has_state, port}};
    YK_CHECKED(daemon->launch());
    return daemon;
}

std::vector<std::string> DaemonProcess::arguments() const {
    std::vector<std::string> all{program_,      "--listen", url(),          "--settings", folder_ + "/settings",
                                 "--log-level", "warn",     "--log-target", "stderr"};
    if (has_state_) all.insert(all.end(), {"--state", folder_});
    if (tcp_port_ != 0) all.insert(all.end(), {"--listen", tcp_address().url, "--tokens", folder_ + "/tokens"});
    return all;
}

DaemonAddress DaemonProcess::tcp_address() const {
    return {fmt::format("tcp://127.0.0.1:{}", tcp_port_), kToken};
}

Result<void> DaemonProcess::launch() {
    std::vector<std::string> with = arguments();
    pid_ = fork();
    if (pid_ < 0) return Error::of("cannot fork");
    if (pid_ == 0) become(with, folder_ + "/log");
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
