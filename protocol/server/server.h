// SPDX-License-Identifier: Apache-2.0
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
#include "protocol/server/request.h"
#include "protocol/server/server_options.h"

namespace yk::wire {

/// Whether a connection is accepted. A privileged one may also take the seats that ServerOptions::kept_connections
/// keeps.
enum class Admittance { Refused, Ordinary, Privileged };

/// What the owner of a Server supplies. Called on nng's threads: must return at once and take no slow lock.
struct ServerHandlers {
    std::function<Admittance(const Peer&)> admit; // refused: the connection is closed before a byte of it is read
    std::function<void(Request)> request;
    /// As `request`, for what is handed on by the thread that received it, which holds no lock: what takes some
    /// microseconds may be done there. Empty: `request` gets it.
    std::function<void(Request)> received;
    std::function<void(std::uint32_t connection)> closed;
    /// A connection was cut or not accepted: whose it was, and why.
    std::function<void(const Peer&, std::string_view why)> cut;
};

class Server {
public:
    /// Checks the address (I-302 to I-304), opens it and starts receiving. Errors are sentences that name the address
    /// and the way out.
    [[nodiscard]] static Result<std::unique_ptr<Server>> listen(const ServerOptions& options, ServerHandlers handlers);
    /// Cuts all connections and frees everything. Replies to requests that are still held are thrown away.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] const std::string& url() const;
    [[nodiscard]] std::uint32_t connections() const;
    /// Descriptors that this server accounts for: its listener, the connections, and those being closed.
    [[nodiscard]] std::uint32_t descriptors() const;
    /// The number of connections since the start, including those that were turned away.
    [[nodiscard]] std::uint64_t accepted_so_far() const;
    /// Whether all seats for connections are taken, or somebody was turned away for want of one in the last 10 seconds.
    [[nodiscard]] bool is_full() const;
    /// Whether somebody was turned away in the last 10 seconds because all seats were taken, and not only those that
    /// one identity may have.
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

} // namespace yk::wire
