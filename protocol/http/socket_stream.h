// SPDX-License-Identifier: Apache-2.0
#pragma once
// SocketStream: the bytes of one connection of an HTTP server, plain or with TLS, with a limit of time and of bytes on
// everything that its client does.

#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/http/head_check.h"
#include "protocol/http/library.h"

namespace yk::http {

/// What the client of a connection may cost.
struct StreamLimits {
    std::chrono::milliseconds request_time; // in which a request has to arrive whole, from its first byte on
    std::chrono::milliseconds idle_time;    // between requests
    std::chrono::milliseconds send_time;    // in which it has to take something of an answer
    std::size_t request_bytes = 0;          // of a request with its headers
    std::size_t least_rate = 0;             // bytes a second of a long answer, beyond send_time
};

/// Owner: HttpConnection. Thread: that of the connection; wake() may be called by any while the object lives.
class SocketStream final : public httplib::Stream {
public:
    /// Takes the descriptor, which does not block, and closes it at the end. `tls`: null for plain HTTP.
    SocketStream(int descriptor, std::string peer, SSL_CTX* tls, StreamLimits limits);
    ~SocketStream() override;
    SocketStream(const SocketStream&) = delete;
    SocketStream& operator=(const SocketStream&) = delete;

    /// Makes the TLS connection, if there is one to make. False: it could not be made in time.
    [[nodiscard]] bool greet();
    /// Waits for the first byte of the next request. False: there is none, the connection is over.
    [[nodiscard]] bool await_request();
    /// Sends what was written.
    [[nodiscard]] bool flush();
    /// Whether the client has closed its side, without waiting.
    [[nodiscard]] bool is_cut();
    /// Whether anything went wrong: nothing more can be read or written.
    [[nodiscard]] bool is_broken() const { return broken_; }
    /// Whether the request has more bytes than it may; no more of it can be read, but it can be answered.
    [[nodiscard]] bool is_too_long() const { return taken_ > limits_.request_bytes; }
    /// The form of the head of this request.
    [[nodiscard]] const HeadCheck& head() const { return head_; }
    /// Ends every wait, now and later. Thread: any.
    void wake() const;
    /// Says to the client that nothing more comes, and waits a moment until it has read what it was sent.
    void finish();

    // For the library.
    [[nodiscard]] bool is_readable() const override { return !broken_; }
    [[nodiscard]] bool is_writable() const override { return !broken_; }
    ssize_t read(char* to, size_t size) override;
    ssize_t write(const char* from, size_t size) override;
    void get_remote_ip_and_port(std::string& ip, int& port) const override;
    void get_local_ip_and_port(std::string& ip, int& port) const override;
    /// None that the library may use: it refuses those that are too large for select().
    [[nodiscard]] socket_t socket() const override { return 0; }

private:
    using Time = std::chrono::steady_clock::time_point;
    enum class Wait { Ready, Over };
    enum class For { Reading, Writing };

    [[nodiscard]] Wait wait(For what, Time until) const;
    /// Waits for what an operation of TLS wants; false: it failed, or the time is over.
    [[nodiscard]] bool wait_for_tls(int outcome, Time until) const;
    [[nodiscard]] ssize_t receive(char* to, std::size_t size, Time until);
    [[nodiscard]] ssize_t send(const char* from, std::size_t size, Time until);
    [[nodiscard]] bool send_all(std::string_view bytes);

    struct FreeTls {
        void operator()(SSL* tls) const noexcept { SSL_free(tls); }
    };

    const int descriptor_;
    const std::string peer_; // its address, without the port
    const StreamLimits limits_;
    std::unique_ptr<SSL, FreeTls> tls_;
    std::array<char, 4096> input_{};
    std::size_t input_begin_ = 0, input_end_ = 0;
    std::string output_;
    std::size_t taken_ = 0; // bytes of this request
    HeadCheck head_;        // of this request
    Time request_end_;
    std::size_t answered_ = 0;                       // bytes of this answer
    std::chrono::steady_clock::duration sending_{0}; // how long it has been sent
    bool broken_ = false;
};

} // namespace yk::http
