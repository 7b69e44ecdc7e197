// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/listen_tls.h"

#include <fmt/format.h>
#include <nng/supplemental/tls/tls.h>
#include <nng/transport/tls/tls.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

namespace yk::wire {
namespace {

Result<std::string> text_of(const std::string& path, const char* what) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error::at(path, fmt::format("cannot read the {}: {}", what, std::strerror(errno)));
    std::ostringstream text;
    text << file.rdbuf();
    if (!file || text.str().empty()) return Error::at(path, fmt::format("there is no {} in it (PEM)", what));
    return text.str();
}

Error refused(const std::string& file, const char* what, int code) {
    return Error::at(file, fmt::format("TLS refuses the {}: {}; is it PEM?", what, nng_strerror(code)));
}

struct FreeConfig {
    void operator()(nng_tls_config* config) const { nng_tls_config_free(config); }
};

using TlsConfig = std::unique_ptr<nng_tls_config, FreeConfig>;

Result<TlsConfig> make_config(const TlsFiles& files) {
    YK_TRY(cert, text_of(files.cert, "certificate"));
    YK_TRY(key, text_of(files.key, "key"));
    nng_tls_config* raw = nullptr;
    if (const int code = nng_tls_config_alloc(&raw, NNG_TLS_MODE_SERVER); code != 0)
        return refused(files.cert, "configuration", code);
    TlsConfig config(raw);
    if (const int code = nng_tls_config_own_cert(raw, cert.c_str(), key.c_str(), nullptr); code != 0)
        return refused(files.cert, "certificate or its key", code);
    if (!files.client_ca.empty()) {
        YK_TRY(authority, text_of(files.client_ca, "client CA"));
        if (const int code = nng_tls_config_ca_chain(raw, authority.c_str(), nullptr); code != 0)
            return refused(files.client_ca, "client CA", code);
        nng_tls_config_auth_mode(raw, NNG_TLS_AUTH_MODE_REQUIRED);
    }
    return config;
}

} // namespace

Result<void> check_tls(const TlsFiles& files) {
    YK_CHECKED(make_config(files));
    return {};
}

Result<void> set_tls(nng_stream_listener* listener, const TlsFiles& files) {
    YK_TRY(config, make_config(files)); // the listener holds its own reference
    if (const int code = nng_stream_listener_set_ptr(listener, NNG_OPT_TLS_CONFIG, config.get()); code != 0)
        return refused(files.cert, "configuration", code);
    return {};
}

} // namespace yk::wire
