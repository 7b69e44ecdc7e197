// SPDX-License-Identifier: Apache-2.0
// Unix and TCP sockets as ByteStreams.

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "protocol/client/dial.h"
#include "protocol/posix/descriptor.h"
#include "protocol/transport/byte_stream.h"

namespace yk::wire {

namespace {

using Clock = std::chrono::steady_clock;
using Deadline = ByteStream::Deadline;

/// Waits for one of `events`. Returns 0 or errno.
int wait_for(int fd, short events, Deadline deadline, const StopCheck& stopped) {
    while (true) {
        if (stopped && stopped()) return ECANCELED;
        pollfd look{fd, events, 0};
        const int ready = ::poll(&look, 1, left_until(next_look(deadline, stopped)));
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return errno;
        if (Clock::now() >= deadline) return ETIMEDOUT;
    }
}

class SocketStream final : public ByteStream {
public:
    SocketStream(Descriptor socket, StopCheck stopped) : socket_(std::move(socket)), stopped_(std::move(stopped)) {}

    int write(std::string_view head, std::string_view body, Deadline deadline, std::size_t& written) override {
        written = 0;
        while (!head.empty() || !body.empty()) {
            std::array<iovec, 2> parts{iovec{const_cast<char*>(head.data()), head.size()},
                                       iovec{const_cast<char*>(body.data()), body.size()}};
            msghdr message{};
            message.msg_iov = parts.data();
            message.msg_iovlen = parts.size();
            const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0 && errno != EAGAIN) return errno;
            if (sent < 0) {
                if (const int fault = wait_for(socket_.get(), POLLOUT, deadline, stopped_); fault != 0) return fault;
                continue;
            }
            written += static_cast<std::size_t>(sent);
            const std::size_t of_head = std::min(head.size(), static_cast<std::size_t>(sent));
            head.remove_prefix(of_head);
            body.remove_prefix(static_cast<std::size_t>(sent) - of_head);
        }
        return 0;
    }

    ReadOutcome read(char* to, std::size_t size, Deadline deadline) override {
        while (true) {
            const ssize_t got = ::recv(socket_.get(), to, size, 0);
            if (got > 0) return {static_cast<std::size_t>(got), 0};
            if (got == 0) return {0, ECONNRESET};
            if (errno == EINTR) continue;
            if (errno != EAGAIN) return {0, errno};
            if (const int fault = wait_for(socket_.get(), POLLIN, deadline, stopped_); fault != 0) return {0, fault};
        }
    }

    [[nodiscard]] bool is_cut() const override {
        char next = 0;
        const ssize_t got = ::recv(socket_.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
        return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    }

private:
    Descriptor socket_;
    StopCheck stopped_;
};

/// Connects; returns 0 or errno.
int connect_until(int fd, const sockaddr* address, socklen_t size, Deadline deadline, const StopCheck& stopped) {
    constexpr std::chrono::milliseconds kLookAgain{5};
    while (::connect(fd, address, size) != 0) {
        if (errno == EISCONN) return 0;
        if (errno == EINPROGRESS || errno == EALREADY) {
            int fault = wait_for(fd, POLLOUT, deadline, stopped);
            socklen_t length = sizeof fault;
            if (fault == 0 && ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &length) != 0) fault = errno;
            return fault;
        }
        if (errno != EAGAIN && errno != EINTR) return errno;
        if (Clock::now() + kLookAgain >= deadline) return ETIMEDOUT; // EAGAIN: the listener's backlog is full
        if (stopped && stopped()) return ECANCELED;
        std::this_thread::sleep_for(kLookAgain);
    }
    return 0;
}

struct FreeAddresses {
    void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

} // namespace

int left_until(Deadline deadline) {
    constexpr std::int64_t kHour = 3'600'000;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 1, kHour));
}

Deadline next_look(Deadline deadline, const StopCheck& stopped) {
    constexpr std::chrono::milliseconds kLookEvery{100};
    return stopped ? std::min(deadline, Clock::now() + kLookEvery) : deadline;
}

Result<std::unique_ptr<ByteStream>> connect_ipc(const std::string& path, Deadline deadline, const StopCheck& stopped) {
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path) return ipc_refusal(path, ENAMETOOLONG);
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (socket.get() < 0) return ipc_refusal(path, errno);
    if (const int fault =
            connect_until(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address, deadline, stopped);
        fault != 0)
        return ipc_refusal(path, fault);
    return std::unique_ptr<ByteStream>{new SocketStream(std::move(socket), stopped)};
}

Result<std::unique_ptr<ByteStream>> connect_tcp(const std::string& host, const std::string& port, Deadline deadline,
                                                const StopCheck& stopped) {
    constexpr std::chrono::milliseconds kPatience{500}; // for each of several addresses
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* raw = nullptr;
    if (const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &raw); code != 0)
        return Error::coded(EADDRNOTAVAIL, fmt::format("{}:{} is no address: {}", host, port, ::gai_strerror(code)),
                            host);
    const std::unique_ptr<addrinfo, FreeAddresses> list{raw};
    int fault = ECONNREFUSED;
    for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
        Descriptor socket{::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        const bool is_only = list->ai_next == nullptr;
        fault = socket.get() < 0
                    ? errno
                    : connect_until(socket.get(), one->ai_addr, one->ai_addrlen,
                                    is_only ? deadline : std::min(deadline, Clock::now() + kPatience), stopped);
        if (fault == ECANCELED) break;
        if (fault != 0) continue;
        const int on = 1;
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        return std::unique_ptr<ByteStream>{new SocketStream(std::move(socket), stopped)};
    }
    return Error::coded(fault, fmt::format("no daemon answers at {}:{}: {}", host, port, std::strerror(fault)), host);
}

} // namespace yk::wire
