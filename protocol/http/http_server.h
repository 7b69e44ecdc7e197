// SPDX-License-Identifier: Apache-2.0
#pragma once
// HttpServer: one address at which clients of HTTP/1.1 are answered, plain or with TLS. Each connection has a thread,
// which may wait for an answer; how many there are at once, and what each may cost in time and bytes, is bounded. When
// all places are taken, the oldest connection that waits for its next request is ended for a new one.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "protocol/http/http_message.h"

namespace yk::http {

struct HttpOptions {
    std::string address;           // HOST:PORT, HOST in brackets if it has colons; port 0: any that is free
    std::string tls_cert, tls_key; // PEM; both empty: no TLS
    bool allow_plaintext = false;  // without TLS on an address that is not loopback
    std::uint32_t max_connections = 256;
    std::size_t max_request = std::size_t{4} << 20; // bytes, with its headers
    std::chrono::milliseconds request_time{10'000}; // in which a request has to arrive whole
    std::chrono::milliseconds idle_time{60'000};    // between two requests
    std::chrono::milliseconds send_time{30'000};    // in which a client has to take something of an answer
    std::size_t least_rate = std::size_t{64} << 10; // bytes a second that it has to take beyond that
};

/// Owner: who made it. Thread: any.
class HttpServer {
public:
    /// Answers a request. Called on the thread of its connection, which may wait.
    using Handler = std::function<HttpAnswer(const HttpRequest&)>;
    /// Is notified of what goes wrong with listening itself, as a sentence; called by the server's thread.
    using Notice = std::function<void(std::string_view)>;

    /// Opens the address and starts answering. Errors are sentences that name the address and the way out.
    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> listen(const HttpOptions& options, Handler handler,
                                                                    Notice notice);
    /// Cuts all connections, and waits for their threads. Requests that a handler is at are waited for.
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// As `http://127.0.0.1:9080`, with the port that it has.
    [[nodiscard]] const std::string& url() const;
    struct Counts {
        std::uint32_t open = 0;
        std::uint64_t accepted = 0, turned_away = 0; // since the start
    };
    [[nodiscard]] Counts counts() const;
    /// Takes no more connections and no more requests; what is being answered goes on.
    void stop();

private:
    class Impl;
    explicit HttpServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace yk::http
