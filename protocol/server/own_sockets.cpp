// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/own_sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "libcore/base/number.h"
#include "protocol/transport/ipc_path.h"

namespace yk::wire {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

std::optional<std::uint16_t> port_of(const std::string& url) {
    const auto port = to_number<std::uint16_t>(std::string_view(url).substr(url.rfind(':') + 1));
    return port == 0 ? std::nullopt : port;
}

bool has_path(const sockaddr_storage& address, socklen_t length, const std::string& path) {
    if (address.ss_family != AF_UNIX || length <= offsetof(sockaddr_un, sun_path)) return false;
    const auto* local = reinterpret_cast<const sockaddr_un*>(&address);
    return path ==
           std::string_view(local->sun_path, ::strnlen(local->sun_path, length - offsetof(sockaddr_un, sun_path)));
}

/// The bytes of the host in the address, as the kernel has them; empty when the address means any host, or has a name.
std::string host_of(const std::string& url) {
    const std::size_t begin = url.find("://") + 3;
    std::string host = url.substr(begin, url.rfind(':') - begin);
    if (host.size() > 1 && host.front() == '[') host = host.substr(1, host.size() - 2);
    std::array<char, sizeof(in6_addr)> bytes{};
    std::string found;
    if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) found.assign(bytes.data(), sizeof(in_addr));
    if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) found.assign(bytes.data(), sizeof(in6_addr));
    const bool any = std::all_of(found.begin(), found.end(), [](char byte) { return byte == 0; });
    return any ? std::string{} : found;
}

/// Whether a socket is bound to this host (as host_of() gives it) and port: another listener may have the same port at
/// another host.
bool is_at(const sockaddr_storage& address, const std::string& host, std::uint16_t port) {
    const auto same = [&host](const void* bytes, std::size_t size) {
        return host.empty() || host == std::string_view(static_cast<const char*>(bytes), size);
    };
    if (address.ss_family == AF_INET) {
        const auto& local = reinterpret_cast<const sockaddr_in&>(address);
        return ntohs(local.sin_port) == port && same(&local.sin_addr, sizeof local.sin_addr);
    }
    if (address.ss_family != AF_INET6) return false;
    const auto& local = reinterpret_cast<const sockaddr_in6&>(address);
    return ntohs(local.sin6_port) == port && same(&local.sin6_addr, sizeof local.sin6_addr);
}

} // namespace

std::optional<std::uint32_t> own_sockets(const std::string& url) {
    const std::string path = ipc_path_of(url);
    const auto port = path.empty() ? port_of(url) : std::nullopt;
    if (path.empty() && !port) return std::nullopt;
    const std::string host = port ? host_of(url) : std::string{};
    const std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc/self/fd"));
    if (directory == nullptr) return std::nullopt;
    std::uint32_t found = 0;
    while (const dirent* entry = ::readdir(directory.get())) {
        sockaddr_storage address{};
        socklen_t length = sizeof address;
        const int descriptor = std::atoi(entry->d_name); // "." and ".." are 0, which is no socket of ours
        if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) continue;
        if (port ? is_at(address, host, *port) : has_path(address, length, path)) ++found;
    }
    return found;
}

} // namespace yk::wire
