// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/server.h"

#include <fmt/format.h>
#include <nng/nng.h>
#include <nng/supplemental/tls/tls.h>
#include <nng/transport/ipc/ipc.h>
#include <arpa/inet.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "protocol/server/listen_address.h"
#include "protocol/server/listen_tls.h"
#include "protocol/server/server_connection.h"
#include "protocol/transport/ipc_path.h"

namespace yk::wire {
namespace {

Error failure(const std::string& url, const std::string& what, int code) {
    if (code == NNG_EADDRINUSE)
        return Error::of(
            fmt::format("cannot listen on {}: another process, probably an ykd, is serving it; stop it or choose "
                        "another address with --listen",
                        url));
    return Error::of(fmt::format("cannot listen on {}: {}: {}", url, what, nng_strerror(code)));
}

Peer::Transport transport_of(const std::string& url) {
    if (!ipc_path_of(url).empty()) return Peer::Transport::Ipc;
    return url.starts_with("tls+tcp://") ? Peer::Transport::Tls : Peer::Transport::Tcp;
}

std::string text_of(const nng_sockaddr& address) {
    char buffer[INET6_ADDRSTRLEN] = {};
    if (address.s_family == NNG_AF_INET) {
        ::inet_ntop(AF_INET, &address.s_in.sa_addr, buffer, sizeof buffer);
    } else if (address.s_family == NNG_AF_INET6) {
        ::inet_ntop(AF_INET6, &address.s_in6.sa_addr, buffer, sizeof buffer);
    }
    return buffer[0] != 0 ? std::string(buffer) : std::string("local");
}

std::uint64_t number_of(nng_stream* stream, const char* option) {
    std::uint64_t value = 0;
    return nng_stream_get_uint64(stream, option, &value) == 0 ? value : ~std::uint64_t{0};
}

std::shared_ptr<const Peer> describe(nng_stream* stream, Peer::Transport transport) {
    static std::atomic<std::uint32_t> last{0};
    auto peer = std::make_shared<Peer>();
    peer->connection = ++last;
    peer->transport = transport;
    if (transport == Peer::Transport::Ipc) {
        peer->uid = static_cast<uid_t>(number_of(stream, NNG_OPT_IPC_PEER_UID));
        peer->gid = static_cast<gid_t>(number_of(stream, NNG_OPT_IPC_PEER_GID));
        peer->pid = static_cast<pid_t>(number_of(stream, NNG_OPT_IPC_PEER_PID));
        peer->address = fmt::format("uid {}", peer->uid);
        return peer;
    }
    nng_sockaddr address{};
    peer->address = nng_stream_get_addr(stream, NNG_OPT_REMADDR, &address) == 0 ? text_of(address) : "local";
    return peer;
}

void discard(nng_stream* stream) {
    nng_stream_close(stream);
    nng_stream_free(stream);
}

} // namespace

std::string tls_engine() {
    const char* name = nng_tls_engine_name();
    return name == nullptr || std::string_view(name) == "none" ? std::string{} : std::string(name);
}

// --- Server -------------------------------------------------------------------------------------

namespace {

/// Remembers when something happened last, if ever.
class LastTime {
public:
    void note() { at_ = std::chrono::steady_clock::now(); }
    [[nodiscard]] bool is_recent() const {
        return at_ && std::chrono::steady_clock::now() - *at_ < std::chrono::seconds{10};
    }

private:
    std::optional<std::chrono::steady_clock::time_point> at_;
};

} // namespace

/// The listener, the table of connections, and the thread that looks after both.
///
/// Threads: nng's, which accept; and `keeper_`, which releases connections that ended, starts accepting again after a
/// failure, and ticks. Only `keeper_` ever waits. Lock order: `mutex_` before that of a connection.
class Server::Impl {
public:
    Impl(const ServerOptions& given, ServerHandlers handlers)
        : options(given), handlers_(complete(std::move(handlers))) {
        if (!options.budget) options.budget = std::make_shared<TransportBudget>();
    }
    ~Impl() { stop(); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    [[nodiscard]] Result<void> start();
    [[nodiscard]] std::uint32_t connections() const;
    [[nodiscard]] bool is_full() const;
    [[nodiscard]] bool turns_away() const;
    [[nodiscard]] std::uint32_t descriptors() const;
    [[nodiscard]] std::uint64_t accepted_so_far() const { return accepted_so_far_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::vector<std::shared_ptr<ServerConnection>> all() const;
    void add_waiting(std::vector<TransportBudget::Waiting>& to) const;

    ServerOptions options;

private:
    using Connections = std::map<std::uint32_t, std::shared_ptr<ServerConnection>>; // oldest first

    [[nodiscard]] static ServerHandlers complete(ServerHandlers handlers) {
        if (!handlers.received) handlers.received = handlers.request;
        return handlers;
    }
    [[nodiscard]] Result<void> open_listener();
    [[nodiscard]] std::uint32_t ordinary_seats() const {
        return options.max_connections - std::min(options.kept_connections, options.max_connections / 2);
    }
    void stop();
    static void on_accepted(void* self) { static_cast<Impl*>(self)->accepted(); }
    void accepted();
    void adopt(nng_stream* stream);
    /// Whether there is a seat for the peer. `victim` gets the connection that has to be cut for it, if one has to.
    [[nodiscard]] bool find_seat(const Peer& peer, Admittance admittance, std::shared_ptr<ServerConnection>& victim);
    void ended(ServerConnection& connection);
    void keep();
    void release(const std::vector<std::shared_ptr<ServerConnection>>& over);
    void report_cut(const Peer& peer, std::string_view why) const {
        if (handlers_.cut && !why.empty()) handlers_.cut(peer, why);
    }

    const ServerHandlers handlers_;
    Peer::Transport transport_ = Peer::Transport::Ipc;
    nng_stream_listener* listener_ = nullptr;
    nng_aio* accepting_ = nullptr;

    mutable std::mutex mutex_;
    std::condition_variable bell_; // wakes keeper_
    Connections connections_;
    std::map<std::string, std::uint32_t> of_identity_;    // connections by the peer's address
    std::vector<std::shared_ptr<ServerConnection>> over_; // ended, to be released by keeper_
    std::uint32_t releasing_ = 0;
    LastTime last_refusal_;     // a peer was refused for want of a seat
    LastTime last_turned_away_; // the same, because all seats were taken
    std::atomic<std::uint64_t> accepted_so_far_{0};
    bool accept_again_ = false;
    bool closing_ = false;
    std::thread keeper_;
};

Result<void> Server::Impl::start() {
    YK_CHECKED(check_listen_address(options));
    transport_ = transport_of(options.url);
    YK_CHECKED(open_listener());
    if (const int code = nng_aio_alloc(&accepting_, on_accepted, this); code != 0)
        return failure(options.url, "memory", code);
    options.budget->know(this, [this](auto& to) { add_waiting(to); });
    keeper_ = std::thread([this] { keep(); });
    nng_stream_listener_accept(listener_, accepting_);
    return {};
}

Result<void> Server::Impl::open_listener() {
    int code = nng_stream_listener_alloc(&listener_, options.url.c_str());
    if (code != 0) return failure(options.url, "address", code);
    if (transport_ == Peer::Transport::Tls)
        YK_CHECKED(set_tls(listener_, TlsFiles{options.tls_cert, options.tls_key, options.tls_client_ca}));
    if (transport_ != Peer::Transport::Ipc) {
        nng_stream_listener_set_bool(listener_, NNG_OPT_TCP_NODELAY, true);
        nng_stream_listener_set_bool(listener_, NNG_OPT_TCP_KEEPALIVE, true);
    }
    const mode_t before = ::umask(0177); // nobody else may connect before the mode is set
    code = nng_stream_listener_listen(listener_);
    ::umask(before);
    if (code != 0) return failure(options.url, "listen", code);
    if (const std::string path = ipc_path_of(options.url); !path.empty())
        return protect_socket(path, options.socket_mode, options.socket_group);
    return {};
}

void Server::Impl::stop() {
    options.budget->forget(this);
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    if (listener_ != nullptr) nng_stream_listener_close(listener_);
    if (accepting_ != nullptr) {
        nng_aio_wait(accepting_); // closing ended it; nng's stop alone may reach for a TLS stream that is just freed
        nng_aio_stop(accepting_);
    }
    for (const auto& connection : all()) connection->end("");
    bell_.notify_all();
    if (keeper_.joinable()) keeper_.join();
    if (accepting_ != nullptr) nng_aio_free(accepting_);
    if (listener_ != nullptr) nng_stream_listener_free(listener_);
}

// --- connections come -----------------------------------------------------------------------------

void Server::Impl::accepted() {
    const int result = nng_aio_result(accepting_);
    if (result == 0) adopt(static_cast<nng_stream*>(nng_aio_get_output(accepting_, 0)));
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    if (result == 0) {
        nng_stream_listener_accept(listener_, accepting_);
    } else {
        accept_again_ = true; // for lack of descriptors or memory, mostly: keeper_ tries again
    }
}

void Server::Impl::adopt(nng_stream* stream) {
    accepted_so_far_.fetch_add(1, std::memory_order_relaxed);
    const auto peer = describe(stream, transport_);
    const Admittance admittance = handlers_.admit ? handlers_.admit(*peer) : Admittance::Ordinary;
    if (admittance == Admittance::Refused) return discard(stream);
    std::shared_ptr<ServerConnection> connection, victim;
    {
        const std::lock_guard lock(mutex_);
        const bool has_seat = find_seat(*peer, admittance, victim);
        if (!has_seat) last_refusal_.note();
        if (!closing_ && has_seat) {
            connection = std::make_shared<ServerConnection>(
                stream, peer, options,
                ConnectionPort{handlers_.request, handlers_.received, [this](ServerConnection& one) { ended(one); }});
            connections_.emplace(peer->connection, connection);
            ++of_identity_[peer->address];
        }
    }
    if (!connection) {
        report_cut(*peer, "all places for connections are taken");
        return discard(stream);
    }
    if (victim) victim->end("its place is needed, and it has not said who it is");
    connection->start();
}

bool Server::Impl::find_seat(const Peer& peer, Admittance admittance, std::shared_ptr<ServerConnection>& victim) {
    const std::uint32_t ordinary = ordinary_seats();
    const bool privileged = admittance == Admittance::Privileged;
    const auto known = of_identity_.find(peer.address);
    const std::uint32_t own = known == of_identity_.end() ? 0 : known->second;
    const bool too_many = !privileged && own >= std::max(1U, ordinary / 2); // one identity leaves half to the others
    if (!too_many && connections_.size() < (privileged ? options.max_connections : ordinary)) return true;
    const auto unidentified = std::find_if(connections_.begin(), connections_.end(), [&](const auto& one) {
        return !one.second->is_trusted() && (!too_many || one.second->peer()->address == peer.address);
    });
    if (unidentified == connections_.end()) {
        if (!too_many) last_turned_away_.note();
        return false;
    }
    victim = unidentified->second;
    return true;
}

// --- connections go -------------------------------------------------------------------------------

void Server::Impl::ended(ServerConnection& connection) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = connections_.find(connection.peer()->connection);
        if (found == connections_.end()) return;
        const auto identity = of_identity_.find(connection.peer()->address);
        if (--identity->second == 0) of_identity_.erase(identity);
        over_.push_back(std::move(found->second));
        connections_.erase(found);
        bell_.notify_all(); // under the lock: the keeper may be the last to need the bell
    }
}

void Server::Impl::add_waiting(std::vector<TransportBudget::Waiting>& to) const {
    for (auto& connection : all()) {
        TransportBudget::Waiting waiting = connection->waiting();
        if (waiting.bytes == 0) continue;
        waiting.holder = std::move(connection);
        to.push_back(std::move(waiting));
    }
}

void Server::Impl::release(const std::vector<std::shared_ptr<ServerConnection>>& over) {
    for (const auto& connection : over) {
        connection->release();
        report_cut(*connection->peer(), connection->reason());
        connection->peer()->gone->store(true);
        if (handlers_.closed) handlers_.closed(connection->peer()->connection);
    }
}

void Server::Impl::keep() {
    auto next_tick = std::chrono::steady_clock::now() + ServerConnection::kTick;
    std::unique_lock lock(mutex_);
    while (!closing_ || !connections_.empty() || !over_.empty()) {
        bell_.wait_until(lock, next_tick, [this] { return closing_ || !over_.empty(); });
        std::vector<std::shared_ptr<ServerConnection>> over;
        std::swap(over, over_);
        releasing_ = static_cast<std::uint32_t>(over.size());
        lock.unlock();
        release(over);
        over.clear(); // they are freed without the lock
        if (std::chrono::steady_clock::now() >= next_tick) {
            for (const auto& connection : all()) connection->tick();
            next_tick = std::chrono::steady_clock::now() + ServerConnection::kTick;
        }
        lock.lock();
        releasing_ = 0;
        if (std::exchange(accept_again_, false) && !closing_) nng_stream_listener_accept(listener_, accepting_);
    }
}

std::vector<std::shared_ptr<ServerConnection>> Server::Impl::all() const {
    std::vector<std::shared_ptr<ServerConnection>> found;
    const std::lock_guard lock(mutex_);
    found.reserve(connections_.size());
    for (const auto& [id, connection] : connections_) found.push_back(connection);
    return found;
}

std::uint32_t Server::Impl::connections() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::uint32_t>(connections_.size());
}

/// True also while seats are left that the last one who was refused may not have: no identity gets more than half.
bool Server::Impl::is_full() const {
    const std::lock_guard lock(mutex_);
    return connections_.size() >= ordinary_seats() || last_refusal_.is_recent();
}

bool Server::Impl::turns_away() const {
    const std::lock_guard lock(mutex_);
    return last_turned_away_.is_recent();
}

std::uint32_t Server::Impl::descriptors() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::uint32_t>(1 + connections_.size() + over_.size() + releasing_);
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options, ServerHandlers handlers) {
    auto impl = std::make_unique<Impl>(options, std::move(handlers));
    YK_CHECKED(impl->start());
    return std::unique_ptr<Server>(new Server(std::move(impl)));
}

const std::string& Server::url() const {
    return impl_->options.url;
}

std::uint32_t Server::connections() const {
    return impl_->connections();
}

std::uint64_t Server::accepted_so_far() const {
    return impl_->accepted_so_far();
}

std::uint32_t Server::descriptors() const {
    return impl_->descriptors();
}

bool Server::turns_away() const {
    return impl_->turns_away();
}

bool Server::is_full() const {
    return impl_->is_full();
}

std::uint32_t Server::open_requests() const {
    std::uint32_t open = 0;
    for (const auto& connection : impl_->all()) open += connection->open_requests();
    return open;
}

void Server::remove_socket_file() {
    if (const std::string path = ipc_path_of(impl_->options.url); !path.empty()) ::unlink(path.c_str());
}

} // namespace yk::wire
