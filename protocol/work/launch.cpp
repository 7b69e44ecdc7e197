// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/launch.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "protocol/posix/system_error.h"

namespace yk::work {
namespace {

constexpr const char* kShell = "/bin/sh";
constexpr int kFirstUnwanted = 3;
constexpr int kPatienceMs = 3000; // for a child to become the command

enum class Step : int { Session, Signals, Files, Cgroup, Groups, Group, User, Rights, Root, Directory, Execute };

const char* text(Step step) {
    switch (step) {
    case Step::Session: return "setsid";
    case Step::Signals: return "the signal mask";
    case Step::Files: return "its files";
    case Step::Cgroup: return "its cgroup";
    case Step::Groups: return "setgroups";
    case Step::Group: return "setgid";
    case Step::User: return "setuid";
    case Step::Rights: return "giving up rights";
    case Step::Root: return "it would run as root";
    case Step::Directory: return "its directory";
    case Step::Execute: break;
    }
    return kShell;
}

/// Why a child could not become the command.
struct Fault {
    Step step{};
    int number = 0; // errno
};

/// All that the child needs, made before the fork: memory is not allocated after it.
struct Prepared {
    std::array<const char*, 4> arguments{};
    std::vector<const char*> environment;
    int channel = -1; // the child's end
    int input = -1, output = -1;
};

// --- in the child: async-signal-safe calls only ---------------------------------------------------------------------

[[noreturn]] void fail(int channel, Step step) {
    const Fault fault{step, errno};
    static_cast<void>(::send(channel, &fault, sizeof fault, MSG_NOSIGNAL));
    ::_exit(127);
}

void reset_signals(int channel) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) static_cast<void>(::sigaction(number, &standard, nullptr));
    sigset_t none;
    ::sigemptyset(&none);
    if (::sigprocmask(SIG_SETMASK, &none, nullptr) != 0) fail(channel, Step::Signals);
}

/// Those that are to be inherited get the first numbers, and all others are closed by exec.
void take_files(const Prepared& prepared, int channel) {
    const bool done = ::dup2(prepared.input, STDIN_FILENO) >= 0 && ::dup2(prepared.output, STDOUT_FILENO) >= 0 &&
                      ::dup2(prepared.output, STDERR_FILENO) >= 0 &&
                      ::syscall(SYS_close_range, kFirstUnwanted, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */) == 0;
    if (!done) fail(channel, Step::Files);
}

/// A caller that is not root but may change users would hand its capabilities on; and no file with a set-user-ID bit is
/// to give any back.
void give_up_rights(int channel) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> none{};
    const bool done = ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
                      ::syscall(SYS_capset, &header, none.data()) == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (!done) fail(channel, Step::Rights);
}

void become(const Identity& identity, int channel) {
    if (::setgroups(identity.groups.size(), identity.groups.data()) != 0) fail(channel, Step::Groups);
    if (::setresgid(identity.gid, identity.gid, identity.gid) != 0) fail(channel, Step::Group);
    if (::setresuid(identity.uid, identity.uid, identity.uid) != 0) fail(channel, Step::User);
}

/// One that it may not enter is no reason to run nothing: a service account often has no home.
void go_to(const std::string& directory, int channel) {
    if (directory.empty() || ::chdir(directory.c_str()) == 0) return;
    if (::chdir("/") != 0) fail(channel, Step::Directory);
}

[[noreturn]] void run_child(const Prepared& prepared, const Launch& launch) {
    const int channel = prepared.channel;
    if (::setsid() < 0) fail(channel, Step::Session);
    char go = 0;
    ssize_t got = 0;
    do got = ::recv(channel, &go, 1, 0);
    while (got < 0 && errno == EINTR);
    if (got != 1) ::_exit(127); // whoever wanted the command is gone
    if (launch.cgroup >= 0 && ::write(launch.cgroup, "0", 1) != 1) fail(channel, Step::Cgroup);
    if (launch.files && ::setrlimit(RLIMIT_NOFILE, &*launch.files) != 0) fail(channel, Step::Files);
    if (launch.identity) become(*launch.identity, channel);
    if (launch.identity || launch.drops_rights) give_up_rights(channel);
    if (::geteuid() == 0 && (launch.identity || !launch.may_be_root)) fail(channel, Step::Root);
    go_to(launch.directory, channel);
    reset_signals(channel);
    take_files(prepared, channel);
    ::execve(kShell, const_cast<char* const*>(prepared.arguments.data()),
             const_cast<char* const*>(prepared.environment.data()));
    fail(channel, Step::Execute);
}

// --- in the caller --------------------------------------------------------------------------------------------------

/// A descriptor that is none of the first three, which the child replaces.
Result<Descriptor> above_standard(int number) {
    Descriptor copy{::fcntl(number, F_DUPFD_CLOEXEC, kFirstUnwanted)};
    if (!copy.is_open()) return system_error("a descriptor");
    return copy;
}

Result<Descriptor> file_or_null(int number) {
    if (number >= 0) return above_standard(number);
    const Descriptor nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    if (!nothing.is_open()) return system_error("/dev/null");
    return above_standard(nothing.get());
}

Result<void> check_identity(const Launch& launch) {
    const auto is_root = [](const Identity& who) {
        return who.uid == 0 || who.gid == 0 || std::count(who.groups.begin(), who.groups.end(), gid_t{0}) != 0;
    };
    if (launch.identity && is_root(*launch.identity))
        return Error::of("a command may not be given the identity of root");
    if (!launch.identity && ::geteuid() == 0 && !launch.may_be_root)
        return Error::of("this process is root, and a command of others may not be; give it an identity");
    return {};
}

/// A child that was killed and did not end, as when what it waits for cannot be interrupted.
struct Lingering {
    pid_t pid = -1;
    uid_t uid = 0; // that it was to have
};
constexpr std::ptrdiff_t kMostLingering = 32; // of a user, whose home it may be

/// Owner: the thread that starts commands.
std::vector<Lingering>& lingering() {
    thread_local std::vector<Lingering> children;
    return children;
}

uid_t uid_of(const Launch& launch) {
    return launch.identity ? launch.identity->uid : ::geteuid();
}

bool is_reaped(pid_t pid) {
    const pid_t ended = ::waitpid(pid, nullptr, WNOHANG);
    return ended == pid || (ended < 0 && errno != EINTR);
}

/// Of one that was killed. What does not end in a moment is looked at again when the next command is started.
void reap(pid_t pid, uid_t uid) {
    constexpr std::chrono::milliseconds kMoment{500}, kPause{1};
    const auto end = std::chrono::steady_clock::now() + kMoment;
    while (!is_reaped(pid)) {
        if (std::chrono::steady_clock::now() > end) return lingering().push_back({pid, uid});
        std::this_thread::sleep_for(kPause);
    }
}

} // namespace

Result<HeldChild> HeldChild::fork(const Launch& launch) {
    YK_CHECKED(check_identity(launch));
    std::erase_if(lingering(), [](const Lingering& child) { return is_reaped(child.pid); });
    const auto is_same_user = [uid = uid_of(launch)](const Lingering& child) { return child.uid == uid; };
    if (std::count_if(lingering().begin(), lingering().end(), is_same_user) >= kMostLingering)
        return Error{EAGAIN, "too many commands that were killed do not end, as when a home cannot be reached", {}};
    Prepared prepared;
    prepared.arguments = {kShell, "-c", launch.text.c_str(), nullptr};
    for (const std::string& each : launch.environment) prepared.environment.push_back(each.c_str());
    prepared.environment.push_back(nullptr);
    YK_TRY(input, file_or_null(launch.input));
    YK_TRY(output, file_or_null(launch.output));
    prepared.input = input.get();
    prepared.output = output.get();
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return system_error("socketpair");
    Descriptor own{ends[0]};
    Descriptor theirs{ends[1]};
    YK_TRY(channel, above_standard(theirs.get()));
    theirs.close();
    prepared.channel = channel.get();
    const pid_t pid = ::fork();
    if (pid < 0) return system_error("fork");
    if (pid == 0) {
        ::close(own.get());
        run_child(prepared, launch);
    }
    return HeldChild{pid, uid_of(launch), std::move(own)};
}

HeldChild::HeldChild(HeldChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), uid_(other.uid_), channel_(std::move(other.channel_)) {}

HeldChild::~HeldChild() {
    end();
}

void HeldChild::end() {
    if (pid_ < 0) return;
    channel_.close();
    ::kill(pid_, SIGKILL);
    reap(std::exchange(pid_, -1), uid_);
}

Result<Descriptor> HeldChild::release() {
    Descriptor watched{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
    if (!watched.is_open()) return system_error("pidfd_open");
    const char go = 1;
    if (::send(channel_.get(), &go, 1, MSG_NOSIGNAL) != 1) return system_error("the child");
    ::pollfd answer{channel_.get(), POLLIN, 0};
    if (::poll(&answer, 1, kPatienceMs) == 0) { // as in a home that hangs, or stopped by somebody of its user
        end();
        return Error::coded(ETIMEDOUT, "it did not begin within 3 seconds, and was ended");
    }
    Fault fault;
    ssize_t got = 0;
    do got = ::recv(channel_.get(), &fault, sizeof fault, 0);
    while (got < 0 && errno == EINTR);
    if (got == 0) { // exec has closed the other end
        pid_ = -1;
        channel_.close();
        return watched;
    }
    errno = got == sizeof fault ? fault.number : EIO;
    const bool by_rule = got == sizeof fault && fault.step == Step::Root;
    Error error = by_rule ? Error::of(text(Step::Root)) : system_error(text(fault.step));
    end();
    return error;
}

} // namespace yk::work
