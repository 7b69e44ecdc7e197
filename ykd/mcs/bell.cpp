// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/bell.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace yk::service {
namespace {

using std::chrono::seconds;

constexpr std::chrono::milliseconds kWithoutBell{10}; // nobody can ring: it is looked so often instead
constexpr seconds kLongest{3600};                     // poll() takes no time without an end

} // namespace

Bell::Bell() : rings_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Bell::~Bell() {
    if (rings_ >= 0) ::close(rings_);
}

/// A write that fails finds so many rings before it that the count is full: the thread wakes by those.
void Bell::ring() {
    const std::uint64_t one = 1;
    if (rings_ >= 0 && ::write(rings_, &one, sizeof one) < 0) return;
}

bool Bell::wait_until(SteadyClock::time_point until, int socket) {
    const SteadyClock::duration most = rings_ >= 0 ? SteadyClock::duration{kLongest} : kWithoutBell;
    const auto now = SteadyClock::now();
    const auto left = until > now + most ? most : std::max(until - now, SteadyClock::duration{});
    const auto whole = std::chrono::duration_cast<seconds>(left);
    const ::timespec limit{whole.count(), (left - whole).count()};
    std::array<::pollfd, 2> ready{{{rings_, POLLIN, 0}, {socket, POLLIN, 0}}};
    if (::ppoll(ready.data(), ready.size(), &limit, nullptr) <= 0) return false; // also after a signal: nothing is lost
    std::uint64_t rings = 0;
    if (ready[0].revents != 0 && ::read(rings_, &rings, sizeof rings) < 0) rings = 0; // taken already
    return ready[1].revents != 0;
}

} // namespace yk::service
