// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Unix socket that somebody listens on who never says anything: the system lets its clients in, and they wait.

#include <catch2/catch.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

namespace yk::testing {

struct SocketDescriptor {
    int fd = -1;
    explicit SocketDescriptor(int given) : fd(given) {}
    ~SocketDescriptor() {
        if (fd >= 0) ::close(fd);
    }
    SocketDescriptor(const SocketDescriptor&) = delete;
    SocketDescriptor& operator=(const SocketDescriptor&) = delete;
};

inline SocketDescriptor silent_socket(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(fd, 4) == 0);
    return SocketDescriptor{fd};
}

} // namespace yk::testing
