// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/listen_address.h"

#include <fmt/format.h>

#include "protocol/server/server_options.h"
#include "protocol/transport/ipc_path.h"

namespace yk::wire {
namespace {

std::string host_of(const std::string& url) {
    const std::size_t start = url.find("://") + 3;
    const std::size_t colon = url.rfind(':');
    std::string host = url.substr(start, colon > start ? colon - start : std::string::npos);
    if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    return host;
}

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

} // namespace

Result<void> check_listen_address(const ServerOptions& options) {
    const std::string& url = options.url;
    if (const std::string path = ipc_path_of(url); !path.empty() || url.starts_with("ipc://"))
        return check_ipc_path(path);
    if (url.starts_with("tls+tcp://")) {
        if (tls_engine().empty()) return Error::of(fmt::format("cannot listen on {}: this nng has no TLS engine", url));
        if (options.tls_cert.empty() || options.tls_key.empty())
            return Error::of(fmt::format("cannot listen on {}: give --tls-cert and --tls-key", url));
        return {};
    }
    if (url.starts_with("tcp://")) {
        if (is_loopback(host_of(url)) || options.allow_plaintext) return {};
        return Error::of(fmt::format("cannot listen on {}: unencrypted tcp beyond this machine; use tls+tcp:// or say "
                                     "--allow-plaintext",
                                     url));
    }
    return Error::of(fmt::format(
        "cannot listen on {}: addresses are /PATH, ipc://PATH, tcp://HOST:PORT or tls+tcp://HOST:PORT", url));
}

} // namespace yk::wire
