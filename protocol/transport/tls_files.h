#pragma once
// The files behind TLS, as both sides are given them, and whether they can be used. Errors name the file.

#include <string>

#include "libcore/base/result.h"

namespace yk::wire {

/// Of a tls+tcp listener (I-341).
struct TlsFiles {
    std::string cert;      // PEM, with its chain
    std::string key;       // PEM, not encrypted
    std::string client_ca; // PEM; empty: no client certificates asked for, else required and verified
};

/// For the side that listens.
[[nodiscard]] Result<void> check_tls(const TlsFiles& files);

/// For the side that dials: the certificates that a tls+tcp address, or a `tls_ca` that is given, needs.
[[nodiscard]] Result<void> check_trusted(const std::string& url, const std::string& tls_ca);

} // namespace yk::wire
