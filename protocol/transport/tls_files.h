// SPDX-License-Identifier: Apache-2.0
#pragma once
// The certificate files of both sides of TLS, and checks whether they can be used. Errors name the file.

#include <string>

#include "libcore/base/result.h"

namespace yk::wire {

/// The files of a tls+tcp listener (I-341).
struct TlsFiles {
    std::string cert;      // PEM, with its chain
    std::string key;       // PEM, not encrypted
    std::string client_ca; // PEM; empty: no client certificates asked for, else required and verified
};

/// Whether the files of a listener can be used.
[[nodiscard]] Result<void> check_tls(const TlsFiles& files);

/// Whether the side that dials can read the certificates to trust: those of a tls+tcp address, or of a `tls_ca` that is
/// given.
[[nodiscard]] Result<void> check_trusted(const std::string& url, const std::string& tls_ca);

} // namespace yk::wire
