// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServerConnection: one client's connection, from its greeting to the return of its descriptor. Only server.cpp
// includes this: it shows nng types.
//
// nng moves the bytes (nng_stream: ipc, tcp or TLS); the requests, their order and every bound on them are ours,
// because nng's own REP socket has none, and loses connections for good (adr 0017).

#include <nng/nng.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "protocol/server/request.h"
#include "protocol/server/server_options.h"
#include "protocol/transport/sp_frames.h"

namespace yk::wire {

class ServerConnection;

/// What a connection needs from its server. All are safe to call from any thread.
struct ConnectionPort {
    std::function<void(Request)> request, received; // as ServerHandlers has them
    /// The connection is over; its descriptor is to be given back. Called once.
    std::function<void(ServerConnection&)> ended;
};

/// Owner: the server's table, and each Request that came over it. Thread: any; `mutex_` guards what is below it.
/// Invariants: A  at most one receive and one send are in nng's hands  B  neither is begun after end()
/// C  `in_flight_` counts the requests that were handed on and whose replies have not left entirely
/// D  the budget counts `queued_`, and each request from its first byte to the end of its reply or, when there will be
/// none, of the Request: its Charge goes with it
class ServerConnection final : public ReplyHolder,
                               public ReplyTarget,
                               public std::enable_shared_from_this<ServerConnection> {
public:
    ServerConnection(nng_stream* stream, std::shared_ptr<const Peer> peer, const ServerOptions& options,
                     ConnectionPort port);
    ~ServerConnection() override;
    ServerConnection(const ServerConnection&) = delete;
    ServerConnection& operator=(const ServerConnection&) = delete;

    /// Sends the greeting and begins to receive. Returns false when the connection has ended: for want of memory, or
    /// because end() was called.
    bool start();
    void reply(const SpMessage& request, TransportBudget::Charge charge,
               std::span<const std::string_view> parts) override;
    void drop(TransportBudget::Charge charge) override;
    /// Cuts the connection. Anything that arrives or is sent later is thrown away.
    void end(const char* why) override;
    void give_up(TransportBudget::Charge charge, const char* why) override;
    /// Waits for nng's callbacks, then frees the descriptor. To be called once, after end(), not from a callback.
    void release();
    /// Called every kTick, perhaps before start(): ends a connection that makes no progress, and continues one that
    /// waited for the budget.
    void tick();
    void trust() override;
    [[nodiscard]] bool is_trusted() const noexcept { return trusted_.load(std::memory_order_relaxed); }

    [[nodiscard]] const std::shared_ptr<const Peer>& peer() const noexcept override { return peer_; }
    [[nodiscard]] const std::string& identity() const noexcept override { return peer_->address; }
    /// The replies that wait to be read; the caller sets `holder`.
    [[nodiscard]] TransportBudget::Waiting waiting() const;
    [[nodiscard]] std::uint32_t open_requests() const;
    /// Why it ended; empty while it lives or when the peer closed it.
    [[nodiscard]] const char* reason() const noexcept { return reason_.load(std::memory_order_relaxed); }

    static constexpr auto kTick = std::chrono::milliseconds{250};

private:
    struct Frame {
        Bytes bytes;
        std::size_t size = 0;
        TransportBudget::Charge request; // of the request that it answers; none: it is the greeting
    };
    struct FreeAio {
        void operator()(nng_aio* aio) const noexcept { nng_aio_free(aio); }
    };
    using Aio = std::unique_ptr<nng_aio, FreeAio>;

    static void on_received(void* self) { static_cast<ServerConnection*>(self)->received(); }
    static void on_sent(void* self) { static_cast<ServerConnection*>(self)->sent(); }
    void received();
    void sent();
    /// Gives `to` the requests that have arrived, as far as the limits allow, and receives again.
    void deliver(std::unique_lock<std::mutex>& lock, const std::function<void(Request)>& to);
    [[nodiscard]] bool may_deliver() const;
    void receive();
    /// Sends the frames, of which none is in nng's hands: at once what the system takes, the rest through nng.
    void send(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool goes_at_once();
    [[nodiscard]] std::size_t send_at_once(std::span<const std::string_view> parts);
    [[nodiscard]] static Frame copy_behind(std::size_t sent, std::span<const std::string_view> parts);
    [[nodiscard]] bool finish_first();
    void settle(TransportBudget::Charge charge);
    void enqueue(Frame frame);
    void offer_first();
    void end_locked(std::unique_lock<std::mutex>& lock, const char* why);
    [[nodiscard]] const char* stalled();
    [[nodiscard]] bool is_too_slow();
    [[nodiscard]] bool waits_too_long();

    const std::shared_ptr<const Peer> peer_;
    const ServerOptions& options_;
    const ConnectionPort port_;
    const std::shared_ptr<TransportBudget> budget_;
    const std::shared_ptr<TransportBudget::Share> share_; // of the peer's identity
    std::atomic<bool> trusted_{false};
    std::atomic<const char*> reason_{""};

    mutable std::mutex mutex_;
    nng_stream* stream_;
    Aio receiving_, sending_;
    Aio at_once_; // without a callback; null: every frame is sent with sending_
    FrameReader reader_;
    std::deque<Frame> frames_;      // the first one is being sent
    std::size_t sent_ = 0;          // bytes of the first one that are sent
    std::uint64_t queued_ = 0;      // bytes of all frames
    TransportBudget::Charge begun_; // of the large message that is being received, if one is
    std::uint32_t in_flight_ = 0;
    bool waits_for_budget_ = false; // the next message is too large for what is left of it
    bool is_receiving_ = false;     // nng has a receive of this connection
    bool is_delivering_ = false;    // some thread is in deliver()
    bool is_over_ = false;
    bool moved_in_ = false, moved_out_ = false;     // since the last tick
    std::uint32_t still_in_ = 0, still_out_ = 0;    // ticks without a byte received, sent
    std::uint32_t filling_ = 0, sending_first_ = 0; // ticks since the message, or the first frame, was begun
    std::uint32_t without_budget_ = 0;              // ticks in which the next message waited for the budget
};

} // namespace yk::wire
