#pragma once
// Addresses from the dialling side: what can be known before dialling, dialling itself, and why it does not succeed.

#include <string>

#include <nng/nng.h>

#include "libcore/base/result.h"

namespace yk::wire {

/// Whether dialling can make sense: the scheme, TLS, and for ipc the socket file (unless `may_be_missing`) and its
/// permissions. The message says what to do.
[[nodiscard]] Result<void> check_address(const std::string& url, bool may_be_missing);

/// Starts dialling in the background; nng goes on until the process ends.
[[nodiscard]] Result<void> start_dialer(nng_socket socket, const std::string& url, const std::string& tls_ca);

/// A sentence for somebody whose connection did not come about in time.
[[nodiscard]] std::string why_not_connected(const std::string& url);

} // namespace yk::wire
