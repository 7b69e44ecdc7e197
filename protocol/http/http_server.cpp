// SPDX-License-Identifier: Apache-2.0
#include "protocol/http/http_server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "protocol/http/http_connection.h"
#include "protocol/http/tls_context.h"
#include "protocol/posix/descriptor.h"

namespace yk::http {
namespace {

constexpr int kBacklog = 128;
constexpr auto kPause = std::chrono::milliseconds{100}; // after a descriptor could not be had

struct FreeAddresses {
    void operator()(addrinfo* first) const noexcept { ::freeaddrinfo(first); }
};

struct HostAndPort {
    std::string host, port;
};

std::optional<HostAndPort> split(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) return std::nullopt;
    HostAndPort parts{address.substr(0, colon), address.substr(colon + 1)};
    if (parts.host.front() == '[' && parts.host.back() == ']')
        parts.host = parts.host.substr(1, parts.host.size() - 2);
    else if (parts.host.find(':') != std::string::npos)
        return std::nullopt;
    const bool is_number = parts.port.find_first_not_of("0123456789") == std::string::npos;
    if (parts.host.empty() || !is_number || parts.port.size() > 5 || std::stoul(parts.port) > 65535)
        return std::nullopt;
    return parts;
}

bool is_loopback(const sockaddr& address) {
    if (address.sa_family == AF_INET)
        return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24U) == 127;
    return address.sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

/// The numeric host of an address, and its port.
HostAndPort text_of(const sockaddr_storage& address, socklen_t size) {
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV);
    return {host.data(), port.data()};
}

Error cannot_listen(const std::string& address, std::string_view why) {
    return Error::of(fmt::format("cannot listen at http address {}: {}", address, why));
}

Result<Descriptor> open_listener(const HttpOptions& options) {
    const auto parts = split(options.address);
    if (!parts) return cannot_listen(options.address, "ADDR:PORT is wanted, as 127.0.0.1:9080 or [::1]:9080");
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (const int fault = ::getaddrinfo(parts->host.c_str(), parts->port.c_str(), &hints, &found); fault != 0)
        return cannot_listen(options.address, ::gai_strerror(fault));
    const std::unique_ptr<addrinfo, FreeAddresses> addresses{found};
    if (!is_loopback(*found->ai_addr) && options.tls_cert.empty() && !options.allow_plaintext)
        return cannot_listen(options.address,
                             "others could read along; name a certificate and a key for TLS, or allow it with "
                             "--allow-plaintext, or listen at 127.0.0.1");
    Descriptor listener{::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int on = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); // or a restart would wait a minute
    if (listener.get() < 0 || ::bind(listener.get(), found->ai_addr, found->ai_addrlen) != 0 ||
        ::listen(listener.get(), kBacklog) != 0)
        return cannot_listen(options.address, errno == EADDRINUSE ? "another program listens there; choose another port"
                                                                  : std::strerror(errno));
    return listener;
}

std::string url_of(int listener, bool tls) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    const auto [host, port] = text_of(address, size);
    return fmt::format("{}://{}:{}", tls ? "https" : "http", address.ss_family == AF_INET6 ? "[" + host + "]" : host,
                       port);
}

} // namespace

// --- the server ---------------------------------------------------------------------------------

class HttpServer::Impl {
public:
    Impl(const HttpOptions& options, Handler handler, Notice notice, Descriptor listener, TlsContext tls)
        : options_(options),
          limits_{options.request_time, options.idle_time, options.send_time, options.max_request, options.least_rate},
          handler_(std::move(handler)),
          notice_(std::move(notice)),
          listener_(std::move(listener)),
          bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          tls_(std::move(tls)),
          url_(url_of(listener_.get(), tls_ != nullptr)),
          acceptor_([this] { accept_all(); }) {}
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    [[nodiscard]] const std::string& url() const { return url_; }
    [[nodiscard]] Counts counts() const;
    void stop();

private:
    struct Place {
        std::unique_ptr<HttpConnection> connection;
        bool is_leaving = false; // it was ended so that another one can come
    };
    using Places = std::list<Place>; // the oldest first

    void accept_all();
    void accept_one();
    [[nodiscard]] bool has_capacity();
    void turn_away(int descriptor) const;
    void serve(Places::iterator place);

    const HttpOptions options_;
    const StreamLimits limits_;
    const Handler handler_;
    const Notice notice_;
    Descriptor listener_;   // of the acceptor while it runs
    const Descriptor bell_; // wakes the acceptor
    const TlsContext tls_;
    const std::string url_;

    mutable std::mutex mutex_; // guards the following
    std::condition_variable one_left_;
    Places places_;
    bool stopping_ = false;
    Counts counts_;

    std::thread acceptor_; // last: it uses all the rest
};

HttpServer::Impl::~Impl() {
    stop();
    std::unique_lock lock(mutex_);
    for (const Place& place : places_) place.connection->end();
    one_left_.wait(lock, [this] { return places_.empty(); });
}

HttpServer::Counts HttpServer::Impl::counts() const {
    const std::lock_guard lock(mutex_);
    Counts counts = counts_;
    counts.open = static_cast<std::uint32_t>(places_.size());
    return counts;
}

void HttpServer::Impl::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(stopping_, true)) return;
        for (const Place& place : places_) place.connection->end_soon();
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(bell_.get(), &one, sizeof one);
    acceptor_.join();
    listener_.close(); // or who connects would wait for an answer
}

void HttpServer::Impl::accept_all() {
    for (;;) {
        std::array<pollfd, 2> watched{{{listener_.get(), POLLIN, 0}, {bell_.get(), POLLIN, 0}}};
        if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) std::this_thread::sleep_for(kPause);
        if (watched[1].revents != 0) return;
        if (watched[0].revents != 0) accept_one();
    }
}

void HttpServer::Impl::accept_one() {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    Descriptor accepted{
        ::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (accepted.get() < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return; // who came has gone
        notice_(fmt::format("{}: no connection can be accepted: {}", url_, std::strerror(errno)));
        std::this_thread::sleep_for(kPause);
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        ++counts_.accepted;
        if (!has_capacity()) {
            ++counts_.turned_away;
            return turn_away(accepted.get());
        }
    }
    const int on = 1;
    ::setsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto connection = std::make_unique<HttpConnection>(accepted.release(), text_of(address, size).host, tls_.get(),
                                                       limits_, handler_);
    const std::lock_guard lock(mutex_); // nobody else adds one
    places_.push_back({std::move(connection)});
    try {
        std::thread([this, place = std::prev(places_.end())] { serve(place); }).detach();
    } catch (const std::system_error& fault) {
        places_.pop_back();
        ++counts_.turned_away;
        notice_(fmt::format("{}: no thread for a connection: {}", url_, fault.what()));
    }
}

/// Says that there is no place, without reading anything; who does not read it loses it. Not with TLS, which would have
/// to be made first.
void HttpServer::Impl::turn_away(int descriptor) const {
    if (tls_) return;
    constexpr std::string_view kWhy = "all places for connections are taken; try again soon\n";
    const std::string answer = fmt::format("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; "
                                           "charset=utf-8\r\nConnection: close\r\nRetry-After: 1\r\n"
                                           "Content-Length: {}\r\n\r\n{}",
                                           kWhy.size(), kWhy);
    static_cast<void>(::send(descriptor, answer.data(), answer.size(), MSG_NOSIGNAL));
}

/// Whether there is a place for one more. If there is none, the oldest connection without a request is ended.
/// REQUIRES: mutex_ held.
bool HttpServer::Impl::has_capacity() {
    const auto leaving = static_cast<std::size_t>(
        std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.is_leaving; }));
    if (places_.size() - leaving < options_.max_connections) return true;
    const auto oldest = std::find_if(places_.begin(), places_.end(), [](const Place& place) {
        return !place.is_leaving && place.connection->is_waiting();
    });
    // Who is ended leaves at once; a flood is not to have more threads by that.
    if (oldest == places_.end() || leaving > options_.max_connections / 4) return false;
    oldest->is_leaving = true;
    oldest->connection->end();
    return true;
}

/// The thread of a connection.
void HttpServer::Impl::serve(Places::iterator place) {
    place->connection->run();
    const std::lock_guard lock(mutex_);
    places_.erase(place);
    one_left_.notify_all(); // under the lock: after it there may be no server any more
}

// --- outside ------------------------------------------------------------------------------------

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const HttpOptions& options, Handler handler, Notice notice) {
    TlsContext tls;
    if (!options.tls_cert.empty()) {
        YK_TRY(made, make_tls_context(options.tls_cert, options.tls_key));
        tls = std::move(made);
    }
    YK_TRY(listener, open_listener(options));
    return std::unique_ptr<HttpServer>{new HttpServer(
        std::make_unique<Impl>(options, std::move(handler), std::move(notice), std::move(listener), std::move(tls)))};
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
const std::string& HttpServer::url() const {
    return impl_->url();
}
HttpServer::Counts HttpServer::counts() const {
    return impl_->counts();
}
void HttpServer::stop() {
    impl_->stop();
}

} // namespace yk::http
