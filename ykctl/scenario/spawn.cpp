// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/spawn.h"

#include "protocol/client/client.h"

#include <fmt/format.h>

#include <climits>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace yk::scenario {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kCheckInterval{1};
constexpr off_t kLogBytes = 64 << 10;

// --- what a signal handler may read: plain memory, written once before the slot is marked as used -------------------
struct Slot {
    std::atomic<pid_t> pid{0}; // 0: free; -1: being filled
    std::array<char, 64> directory{};
    std::array<char, 80> socket{};
};
constexpr std::size_t kSlots = 256;
std::array<Slot, kSlots> slots;

constexpr std::array<int, 3> kFatalSignals{SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kFatalSignals.size()> previous_actions;

void copy_text(const std::string& from, char* to, std::size_t size) {
    std::strncpy(to, from.c_str(), size - 1);
}

int take_slot(const std::string& directory, const std::string& socket) {
    for (std::size_t i = 0; i < kSlots; ++i) {
        pid_t free = 0;
        if (!slots[i].pid.compare_exchange_strong(free, -1)) continue;
        copy_text(directory, slots[i].directory.data(), slots[i].directory.size());
        copy_text(socket, slots[i].socket.data(), slots[i].socket.size());
        return static_cast<int>(i);
    }
    return -1;
}

/// Cleans up, then lets the signal have its default effect. Only async-signal-safe calls.
extern "C" void on_fatal_signal(int number) {
    const int saved = errno;
    kill_private_daemons();
    for (std::size_t i = 0; i < kFatalSignals.size(); ++i)
        if (kFatalSignals[i] == number) sigaction(number, &previous_actions[i], nullptr);
    errno = saved;
    raise(number);
}

/// Installs the handlers once per process. A signal that the program ignores (nohup) stays ignored.
void install_signal_handlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
            struct sigaction action {};
            action.sa_handler = on_fatal_signal;
            sigaction(kFatalSignals[i], nullptr, &previous_actions[i]);
            if (previous_actions[i].sa_handler != SIG_IGN) sigaction(kFatalSignals[i], &action, nullptr);
        }
    });
}

// --- finding and starting the program --------------------------------------------------------------------------------
std::string own_folder() {
    std::array<char, PATH_MAX> path{};
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
    if (size <= 0) return {};
    const std::string text(path.data(), static_cast<std::size_t>(size));
    return text.substr(0, text.rfind('/'));
}

/// The program to start: $YKD, else the ykd beside this program, else its name, which is looked up on PATH.
std::string program() {
    if (const char* named = std::getenv("YKD"); named != nullptr && *named != '\0') return named;
    const std::string beside = own_folder() + "/ykd";
    return access(beside.c_str(), X_OK) == 0 ? beside : "ykd";
}

std::vector<std::string> command_line(const std::string& name, const std::string& url, const SpawnOptions& options) {
    std::vector<std::string> out{name, "--listen", url, "--log-target", "stderr", "--log-level", "warn"};
    if (options.manual_schedule) out.emplace_back("--manual-schedule");
    if (options.virtual_clock) out.insert(out.end(), {"--clock", "virtual"});
    out.insert(out.end(), options.arguments.begin(), options.arguments.end());
    return out;
}

/// Turns the child into ykd. It runs between fork and exec, so only async-signal-safe calls are allowed.
[[noreturn]] void become(char* const* arguments, int log_fd) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a killed ykctl leaves no daemon behind either
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    setpgid(0, 0); // Ctrl-C reaches ykctl only, which ends it in order
    dup2(log_fd, STDOUT_FILENO);
    dup2(log_fd, STDERR_FILENO);
    execvp(arguments[0], arguments);
    const char* reason = strerrordesc_np(errno);
    const std::array<const char*, 4> message{arguments[0], ": ", reason != nullptr ? reason : "cannot be started",
                                             "\n"};
    for (const char* text : message)
        if (write(STDERR_FILENO, text, strlen(text)) < 0) break;
    _exit(127);
}

std::string indented(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out += "\n  " + text.substr(at, end - at);
        at = end + 1;
    }
    return out;
}

} // namespace

void kill_private_daemons() noexcept {
    for (Slot& slot : slots) {
        const pid_t pid = slot.pid.load();
        if (pid == 0) continue;
        if (pid > 0) { // else it may be about to start; it ends with this process
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0); // before that it could still make its socket
        }
        unlink(slot.socket.data());
        rmdir(slot.directory.data());
    }
}

Result<std::unique_ptr<PrivateDaemon>> PrivateDaemon::start(const SpawnOptions& options) {
    std::unique_ptr<PrivateDaemon> daemon{new PrivateDaemon};
    YK_CHECKED(daemon->make_directory());
    YK_CHECKED(daemon->launch(options));
    YK_CHECKED(daemon->wait_until_ready(options.timeout));
    return daemon;
}

Result<void> PrivateDaemon::make_directory() {
    std::string name = "/tmp/yk.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return Error::of(fmt::format("cannot make {}: {}", name, strerror(errno)));
    directory_ = name;
    socket_ = directory_ + "/s";
    url_ = "ipc://" + socket_;
    log_fd_ = memfd_create("ykd-log", MFD_CLOEXEC);
    slot_ = take_slot(directory_, socket_);
    if (log_fd_ < 0) return Error::of(fmt::format("no memory file for the daemon's messages: {}", strerror(errno)));
    if (slot_ < 0) return Error::of(fmt::format("more than {} private daemons at once", kSlots));
    return {};
}

Result<void> PrivateDaemon::launch(const SpawnOptions& options) {
    install_signal_handlers();
    const std::string name = program();
    std::vector<std::string> texts = command_line(name, url_, options);
    std::vector<char*> arguments;
    arguments.reserve(texts.size() + 1);
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) become(arguments.data(), log_fd_);
    if (child < 0) return Error::of(fmt::format("cannot start {}: {}", name, strerror(errno)));
    pid_ = child;
    slots[static_cast<std::size_t>(slot_)].pid.store(child);
    return {};
}

Result<void> PrivateDaemon::wait_until_ready(milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    while (access(socket_.c_str(), F_OK) != 0) {
        if (has_ended())
            return Error::of(fmt::format("the private ykd did not start; {}{}", how_it_ended(), indented(log())));
        if (Clock::now() >= deadline)
            return Error::of(
                fmt::format("the private ykd made no socket within {} ms:{}", timeout.count(), indented(log())));
        std::this_thread::sleep_for(kCheckInterval);
    }
    wire::ClientOptions client;
    client.url = url_;
    client.timeout = timeout;
    client.wait_for_socket = true; // it makes the socket before it listens
    auto connected = wire::Client::connect(client);
    if (!connected)
        return Error::of(
            fmt::format("the private ykd does not answer: {}{}", connected.error().message, indented(log())));
    (*connected)->bye();
    return {};
}

bool PrivateDaemon::has_ended() {
    if (pid_ <= 0) return true;
    if (waitpid(pid_, &status_, WNOHANG) != pid_) return false;
    pid_ = -1;
    return true;
}

std::string PrivateDaemon::how_it_ended() {
    if (!has_ended()) return {};
    if (!WIFSIGNALED(status_)) return fmt::format("it ended with status {}", WEXITSTATUS(status_));
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(status_), strsignal(WTERMSIG(status_)));
}

void PrivateDaemon::stop() {
    if (pid_ > 0) {
        // Nobody else uses this daemon and it stores nothing, so there is no need to wait for an orderly end.
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    if (!directory_.empty()) {
        unlink(socket_.c_str());
        rmdir(directory_.c_str());
        directory_.clear();
    }
    if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].pid.store(0);
    slot_ = -1;
}

PrivateDaemon::~PrivateDaemon() {
    stop();
    if (log_fd_ >= 0) close(log_fd_);
}

std::string PrivateDaemon::log() const {
    struct stat info {};
    if (log_fd_ < 0 || fstat(log_fd_, &info) != 0) return {};
    const off_t from = std::max<off_t>(0, info.st_size - kLogBytes);
    std::string text(static_cast<std::size_t>(info.st_size - from), '\0');
    const ssize_t got = pread(log_fd_, text.data(), text.size(), from);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

} // namespace yk::scenario
