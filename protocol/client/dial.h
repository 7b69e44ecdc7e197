// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses from the side that dials: checks before dialling, TLS settings, and what a failure means.

#include <string>

#include <nng/nng.h>

#include "libcore/base/result.h"

namespace yk::wire {

/// Whether dialling can make sense: the scheme, TLS, and for ipc the socket file (unless `may_be_missing`) and its
/// permissions. The message names the way out.
[[nodiscard]] Result<void> check_address(const std::string& url, bool may_be_missing);

/// Lets the dialer of a tls+tcp address trust `tls_ca` (empty: the system's bundle), and asks for the name of the
/// address in the daemon's certificate.
[[nodiscard]] Result<void> set_tls(nng_stream_dialer* dialer, const std::string& url, const std::string& tls_ca);

/// The error for `code`, the errno of connecting to a socket file, with the way out in its message.
[[nodiscard]] Error ipc_refusal(const std::string& path, int code);
/// Why a TLS connection may have failed, as a sentence for a person.
[[nodiscard]] std::string why_no_tls(const std::string& url);

} // namespace yk::wire
