// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/reachable.h"

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace yk::wire;

namespace {

/// Listens at an address of this machine, at a port of its own.
struct Listener {
    int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::string port;
    explicit Listener(const char* address) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        REQUIRE(::inet_pton(AF_INET, address, &at.sin_addr) == 1);
        REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
        REQUIRE(::listen(socket, 4) == 0);
        socklen_t size = sizeof at;
        REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) == 0);
        port = std::to_string(ntohs(at.sin_port));
    }
    ~Listener() { ::close(socket); }
};

} // namespace

TEST_CASE("I-302 of several addresses the one where somebody listens is dialled") {
    using namespace std::chrono_literals;
    const Listener listener{"127.0.0.3"};
    CHECK(first_listening({"::1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}, listener.port, 500ms) == "127.0.0.3");
    CHECK_FALSE(first_listening({"::1", "127.0.0.2"}, listener.port, 500ms));
    CHECK_FALSE(first_listening({"localhost"}, listener.port, 500ms)); // numbers only
}

TEST_CASE("I-302 an address that is clear stays as it is") {
    for (const char* url : {"ipc:///run/ykd/ykd.sock", "tcp://127.0.0.1:7", "tls+tcp://[::1]:7",
                            "tcp://nowhere.invalid:7", "tcp://", "tcp://:7", "inproc://x", "nonsense"})
        CHECK(reachable_url(url) == url);
}
