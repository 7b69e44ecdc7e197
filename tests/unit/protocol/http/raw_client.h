// SPDX-License-Identifier: Apache-2.0
#pragma once
// RawClient: sends bytes to an HTTP server as they are, whole or not, and reads what comes back.

#include <catch2/catch.hpp>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>

namespace yk::http::testing {

class RawClient {
public:
    /// `url`: as HttpServer says it. `buffer`: bytes that the kernel keeps for who does not read; 0: its default.
    explicit RawClient(const std::string& url, int buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        if (buffer != 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
        REQUIRE(connects(socket_, url));
    }
    ~RawClient() { ::close(socket_); }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    /// Whether anybody listens there.
    static bool can_connect(const std::string& url) {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        const bool connected = connects(socket, url);
        ::close(socket);
        return connected;
    }

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return; // the server has cut the connection, which the test sees when it reads
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    /// Reads until the head and the body that it names are there.
    std::string answer() {
        while (text_.find("\r\n\r\n") == std::string::npos && more()) {
        }
        const std::size_t head = text_.find("\r\n\r\n");
        if (head == std::string::npos) return std::exchange(text_, {});
        const std::size_t length = text_.find("Content-Length: ");
        const std::size_t size = length < head ? std::stoul(text_.substr(length + 16)) : 0;
        while (text_.size() < head + 4 + size && more()) {
        }
        std::string first = text_.substr(0, head + 4 + size);
        text_.erase(0, first.size());
        return first;
    }
    /// Reads until the server closes.
    std::string rest() {
        while (more()) {
        }
        return std::exchange(text_, {});
    }
    std::string ask(std::string_view bytes) {
        send(bytes);
        return answer();
    }

private:
    static bool connects(int socket, const std::string& url) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1))));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    bool more() {
        pollfd one{socket_, POLLIN, 0};
        REQUIRE(::poll(&one, 1, 20'000) == 1);
        char buffer[4096];
        const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
        if (got <= 0) return false;
        text_.append(buffer, static_cast<std::size_t>(got));
        return true;
    }

    const int socket_;
    std::string text_;
};

} // namespace yk::http::testing
