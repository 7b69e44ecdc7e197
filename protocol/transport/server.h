#pragma once
// Server: one listening address, whose clients are REQ peers of the Scalability Protocols (interface.md 4.1). nng's
// threads only move bytes: each request is handed on as a Request, which holds the right to answer it, now or much
// later (a parked poll), from any thread.
//
// Whatever clients do, what they cost is bounded: connections, requests in flight, bytes of requests and of replies
// that wait, and the time in which a peer has to go on (docs/protocol.md, Limits). A connection beyond a bound is cut,
// or not read from; the others never notice.

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "protocol/transport/sp_frames.h"
#include "protocol/transport/transport_budget.h"

namespace yk::wire {

/// Who is at the other end of a connection.
struct Peer {
    enum class Transport { Ipc, Tcp, Tls };
    std::uint32_t connection = 0; // unique while the connection lives, among all servers of the process
    Transport transport = Transport::Ipc;
    uid_t uid = 0; // ipc only: as the kernel names it at connect time
    gid_t gid = 0;
    pid_t pid = 0;
    std::string address; // for logs and limits per host: `uid 1000`, `127.0.0.1`
    /// Set before ServerHandlers::closed is called: what is noted for a peer under a lock that the handler takes, too,
    /// is noted only while this is false, or it would stay for ever.
    std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
    [[nodiscard]] bool is_gone() const noexcept { return gone->load(); }
};

/// A received message and the right to answer it once. Dropping it unanswered throws the request away.
class Request {
public:
    Request() = default;
    Request(Request&& other) noexcept = default;
    Request& operator=(Request&& other) noexcept;
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    ~Request();

    explicit operator bool() const noexcept { return connection_ != nullptr; }
    /// The message; valid until answered or dropped.
    [[nodiscard]] std::string_view bytes() const noexcept { return message_.body(); }
    [[nodiscard]] const Peer& peer() const noexcept { return *peer_; }
    [[nodiscard]] const std::shared_ptr<const Peer>& shared_peer() const noexcept { return peer_; }

    /// Sends the pieces, one after the other, as the answer. A vanished peer is not noticed here (interface.md 4, b).
    void reply(std::span<const std::string_view> pieces);
    void reply(std::string_view bytes) { reply(std::span<const std::string_view>(&bytes, 1)); }
    /// Cuts the peer's connection; the request counts as dropped.
    void disconnect();
    /// The peer has shown who it is: from now on it may have more than one request in flight.
    void trust() const;

private:
    friend class ServerConnection;
    Request(std::shared_ptr<ServerConnection> connection, SpMessage message, TransportBudget::Charge charge);
    std::shared_ptr<ServerConnection> connection_;
    SpMessage message_;
    TransportBudget::Charge charge_; // of the connection's budget
    std::shared_ptr<const Peer> peer_;
};

struct ServerOptions {
    std::string url;                       // ipc://, tcp://, tls+tcp://
    std::uint32_t max_message = 16U << 20; // I-305, what the peer may send
    mode_t socket_mode = 0600;             // ipc
    std::string socket_group;              // ipc; empty: leave it
    bool allow_plaintext = false;          // tcp on a non-loopback address (I-341)
    std::string tls_cert, tls_key, tls_client_ca;

    std::uint32_t max_connections = 4096;
    std::uint32_t kept_connections = 64;             // of these, for peers with Admittance::Privileged
    std::uint32_t max_in_flight = 64;                // requests of a connection; 1 before trust()
    std::chrono::milliseconds send_time{30'000};     // in which a peer has to read or send some byte more
    std::chrono::milliseconds greeting_time{10'000}; // in which it has to say the greeting
    std::shared_ptr<TransportBudget> budget;         // shared by all servers; nullptr: one of its own
};

/// Whether a connection is taken: a privileged one also when only the kept places are left.
enum class Admittance { Refused, Ordinary, Privileged };

/// What the owner of a Server supplies. Called on nng's threads: must return at once and take no slow lock.
struct ServerHandlers {
    std::function<Admittance(const Peer&)> admit; // refused: the connection is closed before a byte of it is read
    std::function<void(Request)> request;
    std::function<void(std::uint32_t connection)> closed;
    /// A connection was cut, or not taken: who, and why.
    std::function<void(const Peer&, std::string_view why)> cut;
};

class Server {
public:
    /// Checks the address (I-302 to I-304), opens it and starts receiving. Errors are sentences that name the address
    /// and the way out.
    [[nodiscard]] static Result<std::unique_ptr<Server>> listen(const ServerOptions& options, ServerHandlers handlers);
    /// Cuts all connections and gives everything back; requests that are still held are answered into the void.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] const std::string& url() const;
    [[nodiscard]] std::uint32_t connections() const;
    /// Descriptors that this server accounts for: its listener, the connections, and those being closed.
    [[nodiscard]] std::uint32_t descriptors() const;
    /// Connections, from the start, those that were turned away included.
    [[nodiscard]] std::uint64_t accepted_so_far() const;
    /// All places are taken, or somebody was turned away for want of one a moment ago.
    [[nodiscard]] bool is_full() const;
    /// Somebody was turned away a moment ago as all places are taken, not only those that his identity may have.
    [[nodiscard]] bool turns_away() const;
    /// Requests whose answer has not been handed to the transport entirely.
    [[nodiscard]] std::uint32_t open_requests() const;
    /// Unlinks the socket of an ipc listener, so that nobody connects to a daemon that is leaving.
    void remove_socket_file();

private:
    class Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// The name of nng's TLS engine; empty: none, tls+tcp is not available.
[[nodiscard]] std::string tls_engine();

} // namespace yk::wire
