#pragma once
// Addresses from the dialling side: what can be known before dialling, and why it does not succeed.

#include <string>

#include <nng/nng.h>

#include "libcore/base/result.h"

namespace yk::wire {

/// Whether dialling can make sense: the scheme, TLS, and for ipc the socket file (unless `may_be_missing`) and its
/// permissions. The message says what to do.
[[nodiscard]] Result<void> check_address(const std::string& url, bool may_be_missing);

/// Lets the dialer of a tls+tcp address trust `tls_ca` (empty: the system's bundle), and asks for the name of the
/// address in the daemon's certificate.
[[nodiscard]] Result<void> set_tls(nng_stream_dialer* dialer, const std::string& url, const std::string& tls_ca);

/// What errno of connecting to a socket file means, with the way out. Its code is `code`.
[[nodiscard]] Error ipc_refusal(const std::string& path, int code);
/// A sentence for somebody whose TLS connection did not come about.
[[nodiscard]] std::string why_no_tls(const std::string& url);

} // namespace yk::wire
