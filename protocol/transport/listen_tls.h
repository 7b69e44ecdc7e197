#pragma once
// Certificates for a tls+tcp listener (I-341). Only server.cpp includes this: it shows an nng type.

#include <nng/nng.h>

#include <string>

#include "libcore/base/result.h"

namespace yk::wire {

struct TlsFiles {
    std::string cert;      // PEM, with its chain
    std::string key;       // PEM, not encrypted
    std::string client_ca; // PEM; empty: no client certificates asked for, else required and verified
};

[[nodiscard]] Result<void> set_tls(nng_listener listener, const TlsFiles& files);

} // namespace yk::wire
