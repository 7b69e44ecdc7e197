// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/daemon_link.h"

namespace yk::rm {

wire::CallResult<std::string> ClientLink::call(const wire::EncodedRequest& request, std::chrono::milliseconds timeout) {
    const auto sent = std::chrono::steady_clock::now();
    auto reply = client_.call_raw(request.kind, request.body, timeout + request.wait);
    if (watch_) watch_(request.kind, reply.ok(), std::chrono::steady_clock::now() - sent);
    return reply;
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
