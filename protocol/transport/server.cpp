#include "protocol/transport/server.h"

#include <fmt/format.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/supplemental/tls/tls.h>
#include <nng/transport/ipc/ipc.h>
#include <arpa/inet.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "protocol/transport/ipc_path.h"
#include "protocol/transport/listen_tls.h"
#include "protocol/transport/lost_peers.h"

namespace yk::wire {
namespace {

constexpr int kFreeContexts = 32;  // ecosystem.md 2.2
constexpr int kMaxContexts = 8192; // above it nothing more is received until one is answered: back-pressure

Error failure(const std::string& url, const std::string& what, int code) {
    if (code == NNG_EADDRINUSE)
        return Error{
            0,
            fmt::format("cannot listen on {}: another process, probably an ykd, is serving it; stop it or choose "
                        "another address with --listen",
                        url),
            {}};
    return Error{0, fmt::format("cannot listen on {}: {}: {}", url, what, nng_strerror(code)), {}};
}

bool starts_with(const std::string& text, std::string_view head) {
    return text.compare(0, head.size(), head) == 0;
}

std::string host_of(const std::string& url) {
    const std::size_t start = url.find("://") + 3;
    const std::size_t colon = url.rfind(':');
    std::string host = url.substr(start, colon > start ? colon - start : std::string::npos);
    if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    return host;
}

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || starts_with(host, "127.");
}

Result<void> check_url(const ServerOptions& options) {
    const std::string& url = options.url;
    if (const std::string path = ipc_path_of(url); !path.empty() || starts_with(url, "ipc://"))
        return check_ipc_path(path);
    if (starts_with(url, "inproc://")) return {};
    if (starts_with(url, "tls+tcp://")) {
        if (tls_engine().empty())
            return Error{0, fmt::format("cannot listen on {}: this nng has no TLS engine", url), {}};
        if (options.tls_cert.empty() || options.tls_key.empty())
            return Error{0, fmt::format("cannot listen on {}: give --tls-cert and --tls-key", url), {}};
        return {};
    }
    if (starts_with(url, "tcp://")) {
        if (is_loopback(host_of(url)) || options.allow_plaintext) return {};
        return Error{0,
                     fmt::format("cannot listen on {}: unencrypted tcp beyond this machine; use tls+tcp:// or say "
                                 "--allow-plaintext",
                                 url),
                     {}};
    }
    return Error{
        0,
        fmt::format("cannot listen on {}: addresses are ipc://PATH, tcp://HOST:PORT or tls+tcp://HOST:PORT", url),
        {}};
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

std::uint64_t number_of(nng_pipe pipe, const char* option) {
    std::uint64_t value = 0;
    return nng_pipe_get_uint64(pipe, option, &value) == 0 ? value : ~std::uint64_t{0};
}

std::shared_ptr<const Peer> describe(nng_pipe pipe, Peer::Transport transport) {
    auto peer = std::make_shared<Peer>();
    peer->connection = static_cast<std::uint32_t>(nng_pipe_id(pipe));
    peer->transport = transport;
    if (transport == Peer::Transport::Ipc) {
        peer->uid = static_cast<uid_t>(number_of(pipe, NNG_OPT_IPC_PEER_UID));
        peer->gid = static_cast<gid_t>(number_of(pipe, NNG_OPT_IPC_PEER_GID));
        peer->pid = static_cast<pid_t>(number_of(pipe, NNG_OPT_IPC_PEER_PID));
        peer->address = fmt::format("uid {}", peer->uid);
        return peer;
    }
    nng_sockaddr address{};
    peer->address = nng_pipe_get_addr(pipe, NNG_OPT_REMADDR, &address) == 0 ? text_of(address) : "local";
    return peer;
}

} // namespace

std::string tls_engine() {
    const char* name = nng_tls_engine_name();
    return name == nullptr || std::string_view(name) == "none" ? std::string{} : std::string(name);
}

struct Server::Impl {
    ServerOptions options;
    ServerHandlers handlers;
    Peer::Transport transport = Peer::Transport::Inproc;
    nng_socket socket = NNG_SOCKET_INITIALIZER;
    bool open = false;
    std::atomic<bool> closing{false};
    std::atomic<int> receiving{0};
    std::atomic<std::uint32_t> serving{0};
    mutable std::mutex mutex; // slots, peers
    std::vector<std::unique_ptr<ServerSlot>> slots;
    std::unordered_map<std::uint32_t, std::shared_ptr<const Peer>> peers;

    Result<void> start();
    Result<void> open_listener();
    void keep_receiving();
    bool add_peer(nng_pipe pipe);
    std::shared_ptr<const Peer> peer_of(std::uint32_t connection) const;
    static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void* argument);
};

/// One context: receives a request, waits for its answer, sends it, receives again.
///
/// Owner: Server::Impl, for the life of the socket. Thread: exactly one party at a time: nng while receiving or
/// sending, the holder of the Request while serving.
struct ServerSlot {
    enum class State { Receiving, Serving, Sending };
    Server::Impl* server = nullptr;
    nng_ctx context = NNG_CTX_INITIALIZER;
    nng_aio* aio = nullptr;
    nng_msg* message = nullptr;
    State state = State::Receiving;

    void receive() {
        state = State::Receiving;
        server->receiving.fetch_add(1, std::memory_order_relaxed);
        nng_ctx_recv(context, aio);
    }
    void received() {
        server->receiving.fetch_sub(1, std::memory_order_relaxed);
        const int result = nng_aio_result(aio);
        if (result == NNG_ECLOSED || result == NNG_ECANCELED || server->closing.load()) return;
        if (result != 0) return receive();
        message = nng_aio_get_msg(aio);
        state = State::Serving;
        server->serving.fetch_add(1, std::memory_order_relaxed);
        server->keep_receiving();
        const nng_pipe pipe = nng_msg_get_pipe(message);
        auto peer = server->peer_of(static_cast<std::uint32_t>(nng_pipe_id(pipe)));
        if (!peer) return drop();
        server->handlers.request(Request(this, std::move(peer)));
    }
    void drop() {
        nng_msg_free(message);
        message = nullptr;
        server->serving.fetch_sub(1, std::memory_order_relaxed);
        if (!server->closing.load()) receive();
    }
    void send(std::span<const std::string_view> pieces) {
        std::size_t total = 0;
        for (const std::string_view piece : pieces) total += piece.size();
        nng_msg* answer = nullptr;
        if (nng_msg_alloc(&answer, total) != 0) return drop();
        auto* to = static_cast<char*>(nng_msg_body(answer));
        for (const std::string_view piece : pieces) {
            if (piece.empty()) continue;
            std::memcpy(to, piece.data(), piece.size());
            to += piece.size();
        }
        nng_msg_free(message);
        message = nullptr;
        state = State::Sending;
        nng_aio_set_msg(aio, answer);
        nng_ctx_send(context, aio);
    }
    void sent() {
        if (nng_aio_result(aio) != 0) nng_msg_free(nng_aio_get_msg(aio));
        nng_aio_set_msg(aio, nullptr);
        server->serving.fetch_sub(1, std::memory_order_relaxed);
        if (!server->closing.load()) receive();
    }
    static void on_aio(void* argument) {
        auto* slot = static_cast<ServerSlot*>(argument);
        if (slot->state == State::Receiving) return slot->received();
        slot->sent();
    }
};

// --- Request ------------------------------------------------------------------------------------

Request::Request(Request&& other) noexcept
    : slot_(std::exchange(other.slot_, nullptr)), peer_(std::move(other.peer_)) {}

Request& Request::operator=(Request&& other) noexcept {
    if (this == &other) return *this;
    if (slot_ != nullptr) slot_->drop();
    slot_ = std::exchange(other.slot_, nullptr);
    peer_ = std::move(other.peer_);
    return *this;
}

Request::~Request() {
    if (slot_ != nullptr) slot_->drop();
}

std::string_view Request::bytes() const noexcept {
    return {static_cast<const char*>(nng_msg_body(slot_->message)), nng_msg_len(slot_->message)};
}

void Request::reply(std::span<const std::string_view> pieces) {
    if (slot_ != nullptr) std::exchange(slot_, nullptr)->send(pieces);
}

void Request::disconnect() {
    if (slot_ == nullptr) return;
    nng_pipe_close(nng_msg_get_pipe(slot_->message));
    std::exchange(slot_, nullptr)->drop();
}

// --- Server -------------------------------------------------------------------------------------

/// Opens contexts until kFreeContexts receive (I-307).
void Server::Impl::keep_receiving() {
    while (receiving.load(std::memory_order_relaxed) < kFreeContexts && !closing.load()) {
        auto slot = std::make_unique<ServerSlot>();
        slot->server = this;
        ServerSlot* raw = slot.get();
        {
            const std::lock_guard lock(mutex);
            if (slots.size() >= kMaxContexts) return;
            if (nng_ctx_open(&slot->context, socket) != 0) return;
            if (nng_aio_alloc(&slot->aio, ServerSlot::on_aio, raw) != 0) {
                nng_ctx_close(slot->context);
                return;
            }
            slots.push_back(std::move(slot));
        }
        raw->receive();
    }
}

std::shared_ptr<const Peer> Server::Impl::peer_of(std::uint32_t connection) const {
    const std::lock_guard lock(mutex);
    const auto found = peers.find(connection);
    return found == peers.end() ? nullptr : found->second;
}

bool Server::Impl::add_peer(nng_pipe pipe) {
    auto peer = describe(pipe, transport);
    if (handlers.admit && !handlers.admit(*peer)) return false;
    const std::lock_guard lock(mutex);
    if (peers.size() >= options.max_connections) return false;
    peers.emplace(peer->connection, peer);
    return true;
}

void Server::Impl::on_pipe(nng_pipe pipe, nng_pipe_ev event, void* argument) {
    auto* self = static_cast<Impl*>(argument);
    const auto connection = static_cast<std::uint32_t>(nng_pipe_id(pipe));
    if (event == NNG_PIPE_EV_ADD_PRE) {
        if (self->closing.load() || !self->add_peer(pipe)) nng_pipe_close(pipe);
        return;
    }
    {
        const std::lock_guard lock(self->mutex);
        if (self->peers.erase(connection) == 0) return;
    }
    if (self->handlers.closed && !self->closing.load()) self->handlers.closed(connection);
}

Result<void> Server::Impl::start() {
    YK_CHECKED(check_url(options));
    keep_listening_after_lost_peers();
    int code = nng_rep0_open(&socket);
    if (code != 0) return failure(options.url, "socket", code);
    open = true;
    nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, options.max_message);
    nng_pipe_notify(socket, NNG_PIPE_EV_ADD_PRE, on_pipe, this);
    nng_pipe_notify(socket, NNG_PIPE_EV_REM_POST, on_pipe, this);
    if (starts_with(options.url, "tls+tcp://")) transport = Peer::Transport::Tls;
    if (starts_with(options.url, "tcp://")) transport = Peer::Transport::Tcp;
    if (!ipc_path_of(options.url).empty()) transport = Peer::Transport::Ipc;
    YK_CHECKED(open_listener());
    keep_receiving();
    return {};
}

Result<void> Server::Impl::open_listener() {
    nng_listener listener = NNG_LISTENER_INITIALIZER;
    int code = nng_listener_create(&listener, socket, options.url.c_str());
    if (code != 0) return failure(options.url, "address", code);
    if (transport == Peer::Transport::Tls)
        YK_CHECKED(set_tls(listener, TlsFiles{options.tls_cert, options.tls_key, options.tls_client_ca}));
    if (transport == Peer::Transport::Tls || transport == Peer::Transport::Tcp) {
        nng_listener_set_bool(listener, NNG_OPT_TCP_NODELAY, true);
        nng_listener_set_bool(listener, NNG_OPT_TCP_KEEPALIVE, true);
    }
    const mode_t before = ::umask(0177); // nobody else may connect before the mode is set
    code = nng_listener_start(listener, 0);
    ::umask(before);
    if (code != 0) return failure(options.url, "listen", code);
    if (const std::string path = ipc_path_of(options.url); !path.empty())
        return protect_socket(path, options.socket_mode, options.socket_group);
    return {};
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options, ServerHandlers handlers) {
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    impl->handlers = std::move(handlers);
    std::unique_ptr<Server> server(new Server(std::move(impl)));
    YK_CHECKED(server->impl_->start());
    return server;
}

Server::~Server() {
    impl_->closing.store(true);
    if (impl_->open) nng_close(impl_->socket);
    for (const auto& slot : impl_->slots) nng_aio_stop(slot->aio);
    for (const auto& slot : impl_->slots) {
        if (slot->message != nullptr) nng_msg_free(slot->message);
        nng_aio_free(slot->aio);
    }
}

const std::string& Server::url() const {
    return impl_->options.url;
}

std::uint32_t Server::connections() const {
    const std::lock_guard lock(impl_->mutex);
    return static_cast<std::uint32_t>(impl_->peers.size());
}

std::uint32_t Server::open_requests() const {
    return impl_->serving.load();
}

void Server::remove_socket_file() {
    if (const std::string path = ipc_path_of(impl_->options.url); !path.empty()) ::unlink(path.c_str());
}

} // namespace yk::wire
