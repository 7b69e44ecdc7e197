// SPDX-License-Identifier: Apache-2.0
#include "protocol/http/http_connection.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>

#include "libcore/base/number.h"
#include "libcore/base/text.h"
#include "protocol/http/gzip.h"

namespace yk::http {
namespace {

constexpr std::size_t kSmall = 1400; // bytes of a body that is not worth compressing
/// What the library would do with these headers is not wanted: it compresses every answer, takes forms and archives
/// apart, and has small limits for what calls itself a form.
constexpr std::array kNotForTheLibrary{"Accept-Encoding", "Content-Type", "Content-Encoding", "Range"};

constexpr const char* kText = "text/plain; charset=utf-8";

/// Of what the library itself refuses.
const char* text_of_refusal(int status) {
    switch (status) {
    case 413: return "the body is too large";
    case 414: return "the address is too long";
    case 416: return "the header Range cannot be read";
    default: return "this is no request of HTTP/1.1, or one with a method that is not known";
    }
}

bool is_control(char c) {
    return (c >= 0 && c < ' ') || c == 0x7f;
}

bool has_body(const std::string& method) {
    constexpr std::array kMethods{"POST", "PUT", "PATCH", "DELETE"};
    return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

void fail(httplib::Response& response) {
    response.status = 500;
    response.set_content("this should not have happened", kText);
}

std::string now_text() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

} // namespace

/// The parts of an answer, as the library sends them.
class HttpConnection::Sink final : public AnswerSink {
public:
    Sink(httplib::DataSink& to, HttpConnection& connection, bool compressed) : to_(to), connection_(connection) {
        if (compressed) gzip_.emplace();
    }

    bool write(std::string_view part) override {
        if (!gzip_) return pass(part);
        packed_.clear();
        gzip_->add(part, packed_);
        return pass(packed_);
    }
    bool flush() override {
        if (gzip_) {
            packed_.clear();
            gzip_->flush(packed_);
            if (!pass(packed_)) return false;
        }
        return connection_.stream_.flush();
    }
    bool is_over() override { return connection_.ended_ || connection_.stream_.is_cut(); }
    [[nodiscard]] bool finish() {
        if (!gzip_) return true;
        packed_.clear();
        gzip_->finish(packed_);
        return pass(packed_);
    }

private:
    bool pass(std::string_view part) {
        return part.empty() ||
               (to_.write(part.data(), part.size()) && !connection_.stream_.is_broken() && !connection_.ended_);
    }

    httplib::DataSink& to_;
    HttpConnection& connection_;
    std::optional<Gzip> gzip_;
    std::string packed_;
};

HttpConnection::HttpConnection(int descriptor, const std::string& peer, SSL_CTX* tls, const StreamLimits& limits,
                               const AnswerRequest& answer_request)
    : most_bytes_(limits.request_bytes), stream_(descriptor, peer, tls, limits), answer_request_(answer_request) {
    svr_sock_ = 0;                  // or the library takes itself to be ending
    set_keep_alive_max_count(1000); // what is said of it; there is no limit
    set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(limits.idle_time).count());
    set_payload_max_length(limits.request_bytes);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
        if (has_body(request.method) && !refusal_) return HandlerResponse::Unhandled; // it is read first
        answer(request, response);
        return HandlerResponse::Handled;
    });
    const auto with_body = [this](const httplib::Request& request, httplib::Response& response) {
        answer(request, response);
    };
    Post("/", with_body); // prepare() has made this the path of every request
    Put("/", with_body);
    Patch("/", with_body);
    Delete("/", with_body);
    set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
        if (!is_answered_ && response.status == 416) answer_without_range(request, response);
        if (is_answered_) return;
        response.set_header("Connection", "close");
        if (response.status != 500)
            response.set_content(refused_by_library(response.status), kText); // that has its text
    });
    set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) { fail(response); });
}

void HttpConnection::run() {
    if (!stream_.greet()) return;
    while (!ended_ && stream_.await_request()) {
        waiting_ = false;
        const bool goes_on = serve_one();
        waiting_ = true;
        if (!goes_on) return stream_.finish();
    }
}

bool HttpConnection::serve_one() {
    request_ = {};
    closes_ = is_answered_ = false;
    bool closed = false;
    const bool answered =
        process_request(stream_, last_, closed, [this](httplib::Request& request) { prepare(request); });
    // Of a request that the library refused nobody knows where it ends.
    return stream_.flush() && answered && is_answered_ && !closed && !closes_ && !last_;
}

/// Called with the head of a request, before its body is read.
void HttpConnection::prepare(httplib::Request& request) {
    for (const auto& [name, value] : request.headers) request_.headers.emplace(lower(name), value);
    request_.method = request.method;
    const std::size_t mark = request.target.find('?');
    request_.path = request.target.substr(0, mark);
    if (mark != std::string::npos) request_.query = request.target.substr(mark + 1);
    request_.query_parameters = {request.params.begin(), request.params.end()};
    request_.peer = request.remote_addr;
    for (const char* name : {"remote_addr", "remote_port", "local_addr", "local_port"})
        request_.headers.erase(name); // the library's, not the client's

    refusal_ = refusal_of(request);
    const bool has_length = request.has_header("Content-Length"), is_chunked = request.has_header("Transfer-Encoding");
    // Where one side sees a body and the other none, what follows could be taken for the next request.
    closes_ = (!has_body(request.method) &&
               (is_chunked || (has_length && request.get_header_value("Content-Length") != "0"))) ||
              (has_length && is_chunked) || refusal_;
    has_gzip_ = accepts_gzip(request_.header("accept-encoding"));
    is_old_ = request.version == "HTTP/1.0";
    if (closes_) request.set_header("Connection", "close");
    if (refusal_ || is_old_) request.headers.erase("Expect"); // the body is not wanted, or nobody waits to send it
    if (!has_length && !is_chunked) request.set_header("Content-Length", "0");
    for (const char* name : kNotForTheLibrary) request.headers.erase(name);
    request.ranges.clear();
    request.path = "/";
}

/// Why the library refused a request, which is not always what it says. Changes the status to what is right.
std::string HttpConnection::refused_by_library(int& status) const {
    const HeadCheck& head = stream_.head();
    if (stream_.is_too_long()) status = head.is_over() ? 413 : 431;
    if (status == 400 && head.is_line_too_long()) status = 431;
    if (status == 431) return "the head of the request is too large: a line may have 8 KiB";
    if (status == 400 && !head.fault().empty()) return std::string(head.fault());
    if (status == 400 && head.is_over() && !request_.method.empty()) // the head was all right
        return "the body cannot be read: it ended early, or its chunks are wrong; headers behind them are not taken";
    return text_of_refusal(status);
}

/// Why a request is not served at all, by its head. What two sides may read differently is served by none.
std::optional<HttpAnswer> HttpConnection::refusal_of(const httplib::Request& request) const {
    const auto refusal = [](int status, const char* why) { return HttpAnswer{status, kText, why, {}, {}}; };
    const auto length = request_.headers.find("content-length"), coding = request_.headers.find("transfer-encoding");
    const auto none = request_.headers.end();
    if (const std::string_view fault = stream_.head().fault(); !fault.empty())
        return HttpAnswer{stream_.head().is_line_too_long() ? 431 : 400, kText, std::string(fault), {}, {}};
    if (std::any_of(request.target.begin(), request.target.end(), is_control))
        return refusal(400, "there is a control character in the address; escape it");
    if (request_.headers.count("host") > 1) return refusal(400, "there is more than one header Host");
    if (request_.headers.count("host") == 0 && request.version == "HTTP/1.1")
        return refusal(400, "the header Host is missing");
    if (request_.headers.count("content-length") > 1 || request_.headers.count("transfer-encoding") > 1)
        return refusal(400, "there is more than one header Content-Length or Transfer-Encoding");
    if (coding != none && lower(coding->second) != "chunked")
        return refusal(400, "the header Transfer-Encoding can only be `chunked`");
    if (length != none) {
        const auto bytes = to_number<std::uint64_t>(length->second);
        if (!bytes) return refusal(400, "the header Content-Length is no number of bytes");
        if (*bytes > most_bytes_) return refusal(413, text_of_refusal(413));
    }
    if (!request_.header("content-encoding").empty())
        return refusal(415, "send the body as it is, without Content-Encoding");
    return std::nullopt;
}

void HttpConnection::answer(const httplib::Request& request, httplib::Response& response) {
    request_.body = request.body;
    give(refusal_ ? *std::move(refusal_) : answer_request_(request_), response);
    is_answered_ = true;
}

/// Parts of answers are never sent, and the header Range is ignored. The library refuses one that it cannot read before
/// anybody else sees the request.
void HttpConnection::answer_without_range(const httplib::Request& request, httplib::Response& response) {
    if (!request.ranges.empty() || has_body(request.method)) return; // which it would apply, and which was not read
    try {
        httplib::Request again = request;
        prepare(again);
        answer(again, response);
    } catch (...) {
        fail(response);
    }
}

void HttpConnection::give(HttpAnswer answer, httplib::Response& response) {
    response.status = answer.status;
    response.set_header("Date", now_text());
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    if (answer.stream) return give_stream(std::move(answer), response);
    if (has_gzip_ && !answer.never_compressed && answer.body.size() >= kSmall) {
        std::string packed;
        Gzip gzip;
        gzip.add(answer.body, packed);
        gzip.finish(packed);
        answer.body = std::move(packed);
        response.set_header("Content-Encoding", "gzip");
        response.set_header("Vary", "Accept-Encoding");
    }
    if (answer.content_type.empty()) return;
    response.set_header("Content-Type", answer.content_type);
    response.body = std::move(answer.body); // set_content() would copy it
}

void HttpConnection::give_stream(HttpAnswer answer, httplib::Response& response) {
    const bool compressed = has_gzip_ && !answer.never_compressed;
    if (compressed) {
        response.set_header("Content-Encoding", "gzip");
        response.set_header("Vary", "Accept-Encoding");
    }
    const auto send = [this, compressed, make = std::move(answer.stream)](std::size_t /*offset*/,
                                                                          httplib::DataSink& to) {
        Sink sink(to, *this, compressed);
        if (!make(sink) || !sink.finish()) return false;
        to.done();
        return true;
    };
    closes_ = closes_ || is_old_; // which knows no parts: the end of the answer is that of the connection
    if (is_old_)
        response.set_content_provider(answer.content_type, send);
    else
        response.set_chunked_content_provider(answer.content_type, send);
}

} // namespace yk::http
