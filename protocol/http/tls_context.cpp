// SPDX-License-Identifier: Apache-2.0
#include "protocol/http/tls_context.h"

#include <openssl/err.h>

#include <array>

namespace yk::http {
namespace {

std::string last_fault() {
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_peek_last_error(), text.data(), text.size());
    ERR_clear_error();
    return text.data();
}

} // namespace

Result<TlsContext> make_tls_context(const std::string& cert, const std::string& key) {
    TlsContext context{SSL_CTX_new(TLS_server_method())};
    if (!context) return Error::of("TLS cannot be used: " + last_fault());
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    // A buffer of our own may be another one when a write is tried again.
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
    if (SSL_CTX_use_certificate_chain_file(context.get(), cert.c_str()) != 1)
        return Error::at(cert, "this is no certificate in PEM that can be used: " + last_fault());
    if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
        return Error::at(key, "this is no key in PEM that can be used: " + last_fault());
    if (SSL_CTX_check_private_key(context.get()) != 1)
        return Error::at(key, "the key does not belong to the certificate " + cert);
    return context;
}

} // namespace yk::http
