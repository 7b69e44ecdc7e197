// SPDX-License-Identifier: Apache-2.0
#pragma once
// Connection: a simulated connection between a client and the daemon, in place of nng. Messages take their time, may
// overtake each other, and arrive twice; the connection may be cut, with what is on its way.
//
// Owner: the client, and each request that came over it. Thread: one.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/server/request.h"
#include "tests/sim/world.h"

namespace yk::sim {

class DaemonHost;

/// What the network does to messages.
struct NetworkFaults {
    double duplicate = 0, cut = 0, slow = 0; // probabilities, of each message
    Nanoseconds usual = milliseconds{2};     // longest time of a message that is not slow
    Nanoseconds slowest = seconds{5};
};

class Connection final : public wire::ReplyTarget, public std::enable_shared_from_this<Connection> {
public:
    /// In which states messages meet their faults, for the counters.
    struct Counters {
        std::string rm_id;                  // of an RM; empty: another client, of which nothing is counted
        std::function<const char*()> state; // that it is in itself; none of a detached RM
    };
    /// What the client sees.
    struct Client {
        Counters counters;
        std::function<void(std::uint32_t number, std::string reply)> replied;
        std::function<void()> cut;
    };

    /// nullptr: no daemon runs.
    static std::shared_ptr<Connection> open(World& world, DaemonHost& host, Client client);
    Connection(World& world, DaemonHost& host, Client client);

    // --- the client's end -----------------------------------------------------------------------
    void send(std::uint32_t number, std::string message);
    /// The client leaves; what is on its way to it is lost.
    void close();
    [[nodiscard]] bool is_open() const { return open_; }
    /// Whether the daemon still has it.
    [[nodiscard]] bool is_alive() const { return alive_; }

    // --- the daemon's end -----------------------------------------------------------------------
    [[nodiscard]] const std::shared_ptr<const wire::Peer>& peer() const noexcept override { return peer_; }
    void reply(const wire::SpMessage& request, wire::TransportBudget::Charge charge,
               std::span<const std::string_view> parts) override;
    void drop(wire::TransportBudget::Charge charge) override { static_cast<void>(charge); }
    void give_up(wire::TransportBudget::Charge charge, const char* why) override;
    void trust() override {}
    /// The daemon was killed. What it sent may still arrive.
    void daemon_died();
    /// The network is cut.
    void cut();

private:
    void arrive(std::uint32_t number, const std::string& message);
    void end_at_client();
    [[nodiscard]] Nanoseconds delay();
    [[nodiscard]] Nanoseconds delay_of_request();
    void cover(std::string_view fault);

    World& world_;
    DaemonHost& host_;
    Client client_;
    std::shared_ptr<wire::Peer> writable_peer_;
    std::shared_ptr<const wire::Peer> peer_;
    const std::uint64_t incarnation_;             // of the daemon at the other end
    Simulator::Clock::time_point last_arrival_{}; // of what was sent until now
    bool open_ = true;                            // as the client knows
    bool alive_ = true;                           // as the daemon knows
};

} // namespace yk::sim
