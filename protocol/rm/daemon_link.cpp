// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/daemon_link.h"

#include "protocol/client/connection.h"
#include "protocol/rm/answers.h"

namespace yk::rm {

wire::CallResult<std::string> ClientLink::call(const wire::EncodedRequest& request, std::chrono::milliseconds timeout) {
    if (is_down_) YK_CHECKED(dial());
    const auto sent = std::chrono::steady_clock::now();
    const auto given = timeout == kOwnTimeout ? client_.options().timeout : timeout;
    auto reply = client_.call_raw(request.kind, request.body, given + request.wait);
    using Kind = wire::CallError::Kind;
    is_down_ = !reply.ok() && (reply.error().kind == Kind::Unreachable || reply.error().kind == Kind::OutcomeUnknown);
    if (watch_) watch_(request.kind, reply.ok(), std::chrono::steady_clock::now() - sent);
    return reply;
}

/// Whether somebody listens.
Result<void, wire::CallError> ClientLink::dial() const {
    const wire::ClientOptions& options = client_.options();
    const auto opened = wire::Connection::open({options.url, options.tls_ca, 0, false},
                                               std::chrono::steady_clock::now() + options.timeout);
    if (opened.ok()) return {};
    return failure(wire::CallError::Kind::Unreachable, opened.error().message);
}

/// Bytes of the reply to Hello.
std::string ClientLink::said(const char* key) const {
    const wire::Value& hello = client_.hello();
    const auto found = hello.find(key);
    if (found == hello.end() || !found->is_binary()) return {};
    const auto& bytes = found->get_binary();
    return {bytes.begin(), bytes.end()};
}

} // namespace yk::rm
