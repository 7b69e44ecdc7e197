// SPDX-License-Identifier: Apache-2.0
#pragma once
// The TLS settings of a server: its certificate and its key.

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "libcore/base/result.h"

namespace yk::http {

struct FreeTlsContext {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTlsContext>;

/// TLS 1.2 and later with this certificate chain and key, both PEM. Errors name the file and why it cannot be used.
[[nodiscard]] Result<TlsContext> make_tls_context(const std::string& cert, const std::string& key);

} // namespace yk::http
