#include "protocol/transport/own_sockets.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "protocol/transport/ipc_path.h"

namespace yk::wire {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

std::optional<std::uint16_t> port_of(const std::string& url) {
    const std::string_view digits = std::string_view(url).substr(url.rfind(':') + 1);
    std::uint16_t port = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (fault != std::errc{} || end != digits.data() + digits.size() || port == 0) return std::nullopt;
    return port;
}

bool has_path(const sockaddr_storage& address, socklen_t length, const std::string& path) {
    if (address.ss_family != AF_UNIX || length <= offsetof(sockaddr_un, sun_path)) return false;
    const auto* local = reinterpret_cast<const sockaddr_un*>(&address);
    return path ==
           std::string_view(local->sun_path, ::strnlen(local->sun_path, length - offsetof(sockaddr_un, sun_path)));
}

bool has_port(const sockaddr_storage& address, std::uint16_t port) {
    if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port) == port;
    return address.ss_family == AF_INET6 && ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port) == port;
}

} // namespace

std::optional<std::uint32_t> own_sockets(const std::string& url) {
    const std::string path = ipc_path_of(url);
    const auto port = path.empty() ? port_of(url) : std::nullopt;
    if (path.empty() && !port) return std::nullopt;
    const std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc/self/fd"));
    if (directory == nullptr) return std::nullopt;
    std::uint32_t found = 0;
    while (const dirent* entry = ::readdir(directory.get())) {
        sockaddr_storage address{};
        socklen_t length = sizeof address;
        const int descriptor = std::atoi(entry->d_name); // "." and ".." are 0, which is no socket of ours
        if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) continue;
        if (port ? has_port(address, *port) : has_path(address, length, path)) ++found;
    }
    return found;
}

} // namespace yk::wire
