// SPDX-License-Identifier: Apache-2.0
#pragma once
// HttpConnection: reads the requests of one client, one after the other, and answers them. What a request is and how an
// answer is written is cpp-httplib's; the bytes, their limits and the end of the connection are SocketStream's.

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "protocol/http/http_message.h"
#include "protocol/http/socket_stream.h"

namespace yk::http {

/// Answers a request. Called on the thread of its connection, which may wait for the answer.
using AnswerRequest = std::function<HttpAnswer(const HttpRequest&)>;

/// Owner: HttpServer. Thread: its own, but for is_waiting() and end().
class HttpConnection final : private httplib::Server {
public:
    HttpConnection(int descriptor, const std::string& peer, SSL_CTX* tls, const StreamLimits& limits,
                   const AnswerRequest& answer_request);

    /// Serves requests until the client goes, breaks a limit, or end().
    void run();
    /// Whether no request is at work. Thread: any.
    [[nodiscard]] bool is_waiting() const { return waiting_; }
    /// Ends the connection as soon as no request is at work. Thread: any.
    void end_soon() {
        last_ = true;
        if (waiting_) end();
    }
    /// Ends the connection now. Thread: any.
    void end() {
        ended_ = true;
        stream_.wake();
    }

private:
    class Sink;

    [[nodiscard]] bool serve_one();
    void prepare(httplib::Request& request);
    [[nodiscard]] std::string refused_by_library(int& status) const;
    [[nodiscard]] std::optional<HttpAnswer> refusal_of(const httplib::Request& request) const;
    void answer(const httplib::Request& request, httplib::Response& response);
    void answer_without_range(const httplib::Request& request, httplib::Response& response);
    void give(HttpAnswer answer, httplib::Response& response);
    void give_stream(HttpAnswer answer, httplib::Response& response);

    const std::size_t most_bytes_; // of a request
    SocketStream stream_;
    const AnswerRequest& answer_request_;
    std::atomic<bool> waiting_{true}, last_{false}, ended_{false};

    // Of the request at work.
    HttpRequest request_;
    bool has_gzip_ = false, is_old_ = false, closes_ = false;
    std::optional<HttpAnswer> refusal_; // of what cannot be served, whoever does
    bool is_answered_ = false;          // by who serves, not by the library
};

} // namespace yk::http
