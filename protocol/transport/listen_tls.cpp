#include "protocol/transport/listen_tls.h"

#include <fmt/format.h>
#include <nng/supplemental/tls/tls.h>
#include <nng/transport/tls/tls.h>

#include <fstream>
#include <memory>
#include <sstream>

namespace yk::wire {
namespace {

Result<std::string> text_of(const std::string& path, const char* what) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file || text.str().empty()) return Error{0, fmt::format("cannot read the {} {}", what, path), path};
    return text.str();
}

Error refused(const TlsFiles& files, const char* what, int code) {
    return Error{0, fmt::format("TLS refuses the {}: {}", what, nng_strerror(code)), files.cert};
}

struct FreeConfig {
    void operator()(nng_tls_config* config) const { nng_tls_config_free(config); }
};

} // namespace

Result<void> set_tls(nng_listener listener, const TlsFiles& files) {
    YK_TRY(cert, text_of(files.cert, "certificate"));
    YK_TRY(key, text_of(files.key, "key"));
    nng_tls_config* raw = nullptr;
    if (const int code = nng_tls_config_alloc(&raw, NNG_TLS_MODE_SERVER); code != 0)
        return refused(files, "configuration", code);
    const std::unique_ptr<nng_tls_config, FreeConfig> config(raw); // the listener holds its own reference
    if (const int code = nng_tls_config_own_cert(raw, cert.c_str(), key.c_str(), nullptr); code != 0)
        return refused(files, "certificate or its key", code);
    if (!files.client_ca.empty()) {
        YK_TRY(authority, text_of(files.client_ca, "client CA"));
        if (const int code = nng_tls_config_ca_chain(raw, authority.c_str(), nullptr); code != 0)
            return refused(files, "client CA", code);
        nng_tls_config_auth_mode(raw, NNG_TLS_AUTH_MODE_REQUIRED);
    }
    if (const int code = nng_listener_set_ptr(listener, NNG_OPT_TLS_CONFIG, raw); code != 0)
        return refused(files, "configuration", code);
    return {};
}

} // namespace yk::wire
