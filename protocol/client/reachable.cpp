// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/reachable.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace yk::wire {

namespace {

constexpr std::chrono::milliseconds kPatience{500};

struct FreeAddresses {
    void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses look_up(const std::string& host, const std::string& port, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* list = nullptr;
    return Addresses{::getaddrinfo(host.c_str(), port.c_str(), &hints, &list) == 0 ? list : nullptr};
}

std::vector<std::string> addresses_of(const std::string& host, const std::string& port) {
    std::vector<std::string> found;
    const Addresses list = look_up(host, port, 0);
    for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
            continue;
        if (std::find(found.begin(), found.end(), text.data()) == found.end()) found.emplace_back(text.data());
    }
    return found;
}

bool accepts(const addrinfo& address, std::chrono::milliseconds patience) {
    const int socket = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return false;
    int fault = ::connect(socket, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
    if (fault == EINPROGRESS) {
        pollfd writable{socket, POLLOUT, 0};
        socklen_t size = sizeof fault;
        if (::poll(&writable, 1, static_cast<int>(patience.count())) != 1 ||
            ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &fault, &size) != 0)
            fault = ETIMEDOUT;
    }
    ::close(socket);
    return fault == 0;
}

} // namespace

std::optional<std::string> first_listening(const std::vector<std::string>& addresses, const std::string& port,
                                           std::chrono::milliseconds patience) {
    for (const std::string& address : addresses) {
        const Addresses numbers = look_up(address, port, AI_NUMERICHOST | AI_NUMERICSERV);
        if (numbers && accepts(*numbers, patience)) return address;
    }
    return std::nullopt;
}

std::string reachable_url(const std::string& url) {
    const std::size_t scheme = url.find("://"), colon = url.rfind(':');
    if (scheme == std::string::npos || url.find("tcp://") == std::string::npos || colon <= scheme + 3) return url;
    const std::string host = url.substr(scheme + 3, colon - scheme - 3), port = url.substr(colon + 1);
    if (host.front() == '[') return url;
    const std::vector<std::string> addresses = addresses_of(host, port);
    if (addresses.size() < 2) return url;
    const auto found = first_listening(addresses, port, kPatience);
    if (!found) return url;
    const bool six = found->find(':') != std::string::npos;
    return fmt::format("{}://{}:{}", url.substr(0, scheme), six ? "[" + *found + "]" : *found, port);
}

} // namespace yk::wire
