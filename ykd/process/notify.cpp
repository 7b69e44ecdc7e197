// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "libcore/base/number.h"

namespace yk::service {
namespace {

std::optional<std::uint64_t> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    return to_number<std::uint64_t>(text);
}

} // namespace

void notify(std::string_view lines) {
    const char* path = std::getenv("NOTIFY_SOCKET");
    if (path == nullptr || *path == '\0') return;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(path);
    if (length >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, path, length);
    if (*path == '@') address.sun_path[0] = '\0'; // an abstract address
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    static_cast<void>(
        ::sendto(socket, lines.data(), lines.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size));
    ::close(socket);
}

void write_ready(int descriptor) {
    constexpr std::string_view kReady = "ready\n";
    static_cast<void>(!::write(descriptor, kReady.data(), kReady.size()));
    ::close(descriptor);
}

std::optional<SteadyClock::duration> watchdog_interval() {
    const auto usec = number_in("WATCHDOG_USEC");
    const auto pid = number_in("WATCHDOG_PID");
    if (!usec || *usec == 0 || (pid && *pid != static_cast<std::uint64_t>(::getpid()))) return std::nullopt;
    return std::chrono::microseconds{*usec / 2};
}

std::string monotonic_usec() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::to_string(static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
                          static_cast<std::uint64_t>(now.tv_nsec) / 1000);
}

} // namespace yk::service
