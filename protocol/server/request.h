// SPDX-License-Identifier: Apache-2.0
#pragma once
// Request: a message that a server received, with the right to answer it; Peer: who sent it. Both outlive the
// connection.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "protocol/server/transport_budget.h"
#include "protocol/transport/sp_frames.h"

namespace yk::wire {

/// Who is at the other end of a connection.
struct Peer {
    enum class Transport { Ipc, Tcp, Tls };
    std::uint32_t connection = 0; // unique while the connection lives, among all servers of the process
    Transport transport = Transport::Ipc;
    uid_t uid = 0; // ipc only: as the kernel names it at connect time
    gid_t gid = 0;
    pid_t pid = 0;
    std::string address;    // for logs and limits per host: `uid 1000`, `127.0.0.1`
    bool is_inside = false; // there is no connection: a part of this process asks
    /// True once the connection has ended; set before ServerHandlers::closed is called. Whoever stores something for a
    /// peer does so only while this is false, under the lock that the `closed` handler takes as well: otherwise nothing
    /// would ever remove it.
    std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
    [[nodiscard]] bool is_gone() const noexcept { return gone->load(); }
};

/// Where the answer to a request goes: the connection that it came over, or a simulated one. Thread: any.
class ReplyTarget {
public:
    virtual ~ReplyTarget() = default;
    [[nodiscard]] virtual const std::shared_ptr<const Peer>& peer() const noexcept = 0;
    /// Queues a reply to `request`. On a connection that ended it is thrown away.
    virtual void reply(const SpMessage& request, TransportBudget::Charge charge,
                       std::span<const std::string_view> parts) = 0;
    /// Notes that a request will not be answered.
    virtual void drop(TransportBudget::Charge charge) = 0;
    /// Cuts the connection instead of answering a request.
    virtual void give_up(TransportBudget::Charge charge, const char* why) = 0;
    /// The peer has shown who it is: it may have more than one request in flight.
    virtual void trust() = 0;
};

/// A received message and the right to answer it once. Thread: any, but one at a time. Destroying it unanswered drops
/// the request: the peer gets no reply.
class Request {
public:
    Request() = default;
    /// `charge`: what it holds of the budget of `target`.
    Request(std::shared_ptr<ReplyTarget> target, SpMessage message, TransportBudget::Charge charge);
    Request(Request&& other) noexcept = default;
    Request& operator=(Request&& other) noexcept;
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    ~Request();

    explicit operator bool() const noexcept { return target_ != nullptr; }
    /// The message; valid until answered or dropped.
    [[nodiscard]] std::string_view bytes() const noexcept { return message_.body(); }
    [[nodiscard]] const Peer& peer() const noexcept { return *peer_; }
    [[nodiscard]] const std::shared_ptr<const Peer>& shared_peer() const noexcept { return peer_; }

    /// Sends the parts, one after the other, as the answer. A vanished peer is not noticed here (interface.md 4, b).
    void reply(std::span<const std::string_view> parts);
    void reply(std::string_view bytes) { reply(std::span<const std::string_view>(&bytes, 1)); }
    /// Cuts the peer's connection; the request counts as dropped.
    void disconnect();
    /// The peer has shown who it is: from now on it may have more than one request in flight.
    void trust() const;

private:
    std::shared_ptr<ReplyTarget> target_;
    SpMessage message_;
    TransportBudget::Charge charge_; // what it holds of the connection's budget
    std::shared_ptr<const Peer> peer_;
};

} // namespace yk::wire
