// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/guard.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "protocol/posix/system_error.h"

namespace yk::work {
namespace {

constexpr std::size_t kSpare = 64; // groups that are announced before others are taken back

/// The process itself, after a fork: async-signal-safe calls only, and `groups` has its memory already. A number that
/// arrives is a group, or less than 0 and the end of one.
[[noreturn]] void watch(int channel, std::vector<pid_t>& groups) {
    ::setsid();
    [[maybe_unused]] const int is_elsewhere = ::chdir("/");
    for (int number = 1; number < NSIG; ++number)
        if (number != SIGCHLD) static_cast<void>(::signal(number, SIG_IGN));
    ::prctl(PR_SET_NAME, "yk-guard");
    if (channel > 0) ::syscall(SYS_close_range, 0U, static_cast<unsigned>(channel) - 1U, 0U);
    ::syscall(SYS_close_range, static_cast<unsigned>(channel) + 1U, ~0U, 0U);
    pid_t number = 0;
    while (true) {
        const ssize_t got = ::recv(channel, &number, sizeof number, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got != sizeof number) break;
        for (pid_t& each : groups) {
            if (each != (number > 0 ? 0 : -number)) continue;
            each = std::max<pid_t>(number, 0);
            break;
        }
    }
    for (const pid_t group : groups)
        if (group > 0) ::kill(-group, SIGKILL);
    ::_exit(0);
}

} // namespace

Result<Guard> Guard::start(std::size_t most) {
    Guard guard{most};
    YK_CHECKED(guard.begin());
    return guard;
}

Guard::Guard(Guard&& other) noexcept
    : most_(other.most_),
      groups_(std::move(other.groups_)),
      pid_(std::exchange(other.pid_, -1)),
      channel_(std::move(other.channel_)) {}

Guard::~Guard() {
    end();
}

void Guard::end() {
    channel_.close();
    if (pid_ < 0) return;
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

Result<void> Guard::begin() {
    std::vector<pid_t> groups(most_ + kSpare, 0);
    std::copy(groups_.begin(), groups_.end(), groups.begin());
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return system_error("socketpair");
    Descriptor own{ends[0]};
    const Descriptor theirs{ends[1]};
    const pid_t pid = ::fork();
    if (pid < 0) return system_error("fork");
    if (pid == 0) {
        ::close(own.get());
        watch(theirs.get(), groups);
    }
    pid_ = pid;
    channel_ = std::move(own);
    return {};
}

bool Guard::send(pid_t number) const {
    ssize_t sent = 0;
    do sent = ::send(channel_.get(), &number, sizeof number, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == sizeof number;
}

Result<void> Guard::add(pid_t group) {
    groups_.insert(group);
    if (send(group)) return {};
    end();
    auto again = begin();
    if (!again.ok()) groups_.erase(group);
    return again;
}

void Guard::remove(pid_t group) {
    groups_.erase(group);
    static_cast<void>(send(-group)); // a guard that is gone is replaced by the next add()
}

} // namespace yk::work
