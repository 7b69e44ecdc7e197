// SPDX-License-Identifier: Apache-2.0
#pragma once
// HttpRequest, HttpAnswer: what a client of HTTP asked, and what it is answered. AnswerSink: where the parts of an
// answer go that is made while it is sent.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yk::http {

/// A request that has arrived whole. Owner: the connection, until it is answered.
struct HttpRequest {
    std::string method;                                       // in upper case
    std::string path;                                         // as it was sent, without the query
    std::string query;                                        // what was sent behind the `?`
    std::multimap<std::string, std::string> headers;          // names in lower case
    std::multimap<std::string, std::string> query_parameters; // decoded; equal names in the order of the query
    std::string body;
    std::string peer; // the address at the other end, without its port

    /// The value of the first header of this name, which is in lower case; empty: there is none.
    [[nodiscard]] std::string_view header(const std::string& name) const {
        const auto found = headers.lower_bound(name);
        return found == headers.end() || found->first != name ? std::string_view{} : found->second;
    }
    [[nodiscard]] bool has_parameter(const std::string& name) const { return query_parameters.contains(name); }
    /// The first value of a parameter of the query; empty: it is empty, or not there.
    [[nodiscard]] std::string_view parameter(const std::string& name) const {
        const auto found = query_parameters.lower_bound(name);
        return found == query_parameters.end() || found->first != name ? std::string_view{} : found->second;
    }
};

/// Thread: that of the connection.
class AnswerSink {
public:
    AnswerSink() = default;
    virtual ~AnswerSink() = default;
    AnswerSink(const AnswerSink&) = delete;
    AnswerSink& operator=(const AnswerSink&) = delete;

    /// Adds a part. It may wait in a buffer until the next flush(), or the end. False: the client has gone, or has not
    /// taken anything for too long; nothing more needs to be made.
    [[nodiscard]] virtual bool write(std::string_view part) = 0;
    /// Sends what was written.
    [[nodiscard]] virtual bool flush() = 0;
    /// Whether the client is known to have gone, or the server ends. Costs a system call.
    [[nodiscard]] virtual bool is_over() = 0;
};

struct HttpAnswer {
    int status = 200;
    std::string content_type; // empty: there is no body
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers; // further ones
    /// Not empty: makes the body while it is sent, instead of `body`; called once, on the thread of the connection.
    /// False: it could not be made to its end, and the connection is cut so that the client knows.
    std::function<bool(AnswerSink&)> stream;
    bool never_compressed = false; // for a stream whose parts somebody waits for
};

} // namespace yk::http
