#pragma once
// Server: one nng REP listener (interface.md 4.1). nng's threads only move messages: each request is handed on as a
// Request, which holds the right to answer it, now or much later (a parked poll), from any thread.
//
// Contexts are pooled: at least kFreeContexts are always receiving, so that parked requests never starve others
// (I-307).

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "libcore/base/result.h"

namespace yk::wire {

/// Who is at the other end of a connection.
struct Peer {
    enum class Transport { Ipc, Tcp, Tls, Inproc };
    std::uint32_t connection = 0; // unique while the connection lives
    Transport transport = Transport::Ipc;
    uid_t uid = 0; // ipc only: as the kernel names it at connect time
    gid_t gid = 0;
    pid_t pid = 0;
    std::string address; // for logs and limits per host: `uid 1000`, `127.0.0.1`
};

class Server;
struct ServerSlot;

/// A received message and the right to answer it once. Dropping it unanswered throws the request away.
class Request {
public:
    Request() = default;
    Request(Request&& other) noexcept;
    Request& operator=(Request&& other) noexcept;
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    ~Request();

    explicit operator bool() const noexcept { return slot_ != nullptr; }
    /// The message; valid until answered or dropped.
    [[nodiscard]] std::string_view bytes() const noexcept;
    [[nodiscard]] const Peer& peer() const noexcept { return *peer_; }
    [[nodiscard]] const std::shared_ptr<const Peer>& shared_peer() const noexcept { return peer_; }

    /// Sends the pieces, one after the other, as the answer. A vanished peer is not noticed here (interface.md 4, b).
    void reply(std::span<const std::string_view> pieces);
    void reply(std::string_view bytes) { reply(std::span<const std::string_view>(&bytes, 1)); }
    /// Cuts the peer's connection; the request counts as dropped.
    void disconnect();

private:
    friend struct ServerSlot;
    Request(ServerSlot* slot, std::shared_ptr<const Peer> peer) : slot_(slot), peer_(std::move(peer)) {}
    ServerSlot* slot_ = nullptr;
    std::shared_ptr<const Peer> peer_;
};

struct ServerOptions {
    std::string url;                       // ipc://, tcp://, tls+tcp://, inproc://
    std::uint32_t max_message = 16U << 20; // I-305, what the peer may send
    mode_t socket_mode = 0600;             // ipc
    std::string socket_group;              // ipc; empty: leave it
    bool allow_plaintext = false;          // tcp on a non-loopback address (I-341)
    std::string tls_cert, tls_key, tls_client_ca;
    std::uint32_t max_connections = 4096;
};

/// What the owner of a Server supplies. Called on nng's threads: must return at once and take no slow lock.
struct ServerHandlers {
    std::function<bool(const Peer&)> admit; // false: the connection is closed before a byte of it is read
    std::function<void(Request)> request;
    std::function<void(std::uint32_t connection)> closed;
};

class Server {
public:
    /// Checks the address (I-302 to I-304), opens it and starts receiving. Errors are sentences that name the address
    /// and the way out.
    [[nodiscard]] static Result<std::unique_ptr<Server>> listen(const ServerOptions& options, ServerHandlers handlers);
    /// Closes the socket. For tests: nng 1.5 can hang here when the peer is in the same process, so a daemon leaves by
    /// _exit() instead and only calls remove_socket_file().
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] const std::string& url() const;
    [[nodiscard]] std::uint32_t connections() const;
    /// Requests whose answer has not been handed to the transport entirely.
    [[nodiscard]] std::uint32_t open_requests() const;
    /// Unlinks the socket of an ipc listener, so that nobody connects to a daemon that is leaving.
    void remove_socket_file();

private:
    friend class Request;
    friend struct ServerSlot;
    struct Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// The name of nng's TLS engine; empty: none, tls+tcp is not available.
[[nodiscard]] std::string tls_engine();

} // namespace yk::wire
