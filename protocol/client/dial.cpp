// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/dial.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <nng/supplemental/tls/tls.h>
#include <nng/transport/tls/tls.h>
#include <arpa/inet.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/transport/byte_stream.h"
#include "protocol/transport/ipc_path.h"
#include "protocol/transport/tls_files.h"

namespace yk::wire {

namespace {

bool has_tls() {
    const char* engine = nng_tls_engine_name();
    return engine != nullptr && *engine != '\0' && std::string_view{engine} != "none";
}

/// The errno that connecting to the socket file would give, as far as the file shows it; 0: none. Connecting to find
/// out would cost the daemon a connection.
int look_at(const std::string& path) {
    struct stat info {};
    if (path.size() >= sizeof(sockaddr_un::sun_path)) return ENAMETOOLONG;
    if (::stat(path.c_str(), &info) != 0) return errno;
    if (!S_ISSOCK(info.st_mode)) return ENOTSOCK;
    return ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
}

Result<void> check_ipc(const std::string& path, bool may_be_missing) {
    const int code = look_at(path);
    const bool is_missing = code == ENOENT || code == ENOTDIR;
    if (code == 0 || (is_missing && may_be_missing)) return {};
    return ipc_refusal(path, code);
}

struct FreeTlsConfig {
    void operator()(nng_tls_config* config) const noexcept { nng_tls_config_free(config); }
};

using TlsConfig = std::unique_ptr<nng_tls_config, FreeTlsConfig>;

Error tls_error(const std::string& file, int code) {
    return {code,
            fmt::format("cannot use the certificates of {}: {}; name the CA's file (PEM) with --tls-ca", file,
                        nng_strerror(code)),
            file};
}

std::string trusted_file(const std::string& ca) {
    constexpr const char* kSystemBundle = "/etc/ssl/certs/ca-certificates.crt"; // mbedTLS knows no system store
    return ca.empty() ? kSystemBundle : ca;
}

Result<TlsConfig> trust(const std::string& file) {
    nng_tls_config* raw = nullptr;
    if (const int code = nng_tls_config_alloc(&raw, NNG_TLS_MODE_CLIENT); code != 0) return tls_error(file, code);
    TlsConfig config{raw};
    if (const int code = nng_tls_config_ca_file(raw, file.c_str()); code != 0) return tls_error(file, code);
    return config;
}

/// The name that the daemon's certificate has to bear. Empty for a numeric address: mbedTLS 2.28 compares names only,
/// so that any certificate of the CA is accepted there.
std::string certified_name(const std::string& url) {
    const std::size_t start = url.find("://") + 3;
    std::string host = url.substr(start, url.rfind(':') - start);
    in6_addr ignored{};
    const bool is_numeric = host.empty() || host.front() == '[' || ::inet_pton(AF_INET, host.c_str(), &ignored) == 1;
    return is_numeric ? std::string{} : host;
}

} // namespace

Error ipc_refusal(const std::string& path, int code) {
    switch (code) {
    case ENOENT:
    case ENOTDIR:
        return {
            code,
            fmt::format("no daemon: {} does not exist; start ykd, or name its socket with -s or YKCTL_SOCKET", path),
            path};
    case EACCES:
    case EPERM:
        return {code, fmt::format("permission to connect to {} denied; ask to be let in by its mode or group", path),
                path};
    case ENAMETOOLONG:
        return {code, fmt::format("the socket path {} is longer than the system's limit of 107 bytes", path), path};
    case ETIMEDOUT:
        return {code, fmt::format("{} does not take the connection: the daemon is slow or stopped", path), path};
    case ECONNREFUSED:
        return {code,
                fmt::format("no daemon listens on {}: the socket is left over from one that ended; start ykd", path),
                path};
    default: return {code, fmt::format("cannot connect to {}: {}", path, std::strerror(code)), path};
    }
}

Result<void> check_address(const std::string& url, bool may_be_missing) {
    if (url.starts_with("ipc://")) return check_ipc(ipc_path_of(url), may_be_missing);
    if (url.starts_with("tcp://")) return {};
    if (!url.starts_with("tls+tcp://"))
        return Error::coded(
            EINVAL, fmt::format("'{}' is no address: use ipc://PATH, tcp://HOST:PORT or tls+tcp://HOST:PORT", url),
            url);
    if (has_tls()) return {};
    return Error::coded(ENOTSUP, "this build of nng has no TLS; use ipc:// or tcp:// through a tunnel", url);
}

Result<void> check_trusted(const std::string& url, const std::string& tls_ca) {
    if (!has_tls() || (tls_ca.empty() && !url.starts_with("tls+tcp://"))) return {};
    const std::string file = trusted_file(tls_ca);
    if (const int fault = ::access(file.c_str(), R_OK) == 0 ? 0 : errno; fault != 0)
        return Error::coded(
            fault,
            fmt::format("cannot read the certificates of {}: {}; name the CA's file (PEM) with --tls-ca", file,
                        std::strerror(fault)),
            file);
    YK_CHECKED(trust(file));
    return {};
}

Result<void> set_tls(nng_stream_dialer* dialer, const std::string& url, const std::string& ca) {
    const std::string file = trusted_file(ca);
    YK_TRY(config, trust(file));
    nng_tls_config_auth_mode(config.get(), NNG_TLS_AUTH_MODE_REQUIRED);
    if (const std::string name = certified_name(url); !name.empty())
        nng_tls_config_server_name(config.get(), name.c_str());
    if (const int code = nng_stream_dialer_set_ptr(dialer, NNG_OPT_TLS_CONFIG, config.get()); code != 0)
        return tls_error(file, code);
    return {};
}

Result<std::unique_ptr<ByteStream>> connect_stream(const std::string& url, const std::string& tls_ca,
                                                   ByteStream::Deadline deadline, const StopCheck& stopped) {
    if (const std::string path = ipc_path_of(url); !path.empty()) return connect_ipc(path, deadline, stopped);
    if (url.starts_with("tls+tcp://")) return connect_tls(url, tls_ca, deadline, stopped);
    const std::size_t start = url.find("://") + 3, colon = url.rfind(':');
    if (colon < start) return Error::coded(EINVAL, fmt::format("'{}' names no port: tcp://HOST:PORT", url), url);
    std::string host = url.substr(start, colon - start);
    if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    return connect_tcp(host, url.substr(colon + 1), deadline, stopped);
}

std::string why_no_tls(const std::string& url) {
    return fmt::format("no daemon answers at {}: refused, unreachable, or its certificate is not one of the CA's "
                       "(--tls-ca) for this name",
                       url);
}

} // namespace yk::wire
