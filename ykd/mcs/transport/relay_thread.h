// SPDX-License-Identifier: Apache-2.0
#pragma once
// RelayThread: the thread on which this process is the relay, while it has the lease for that: it copies the change log
// of the database to the broker. Each epoch of the lease has a ChangeRelay of its own, which begins with what the
// database says the one before it had sent (rs R-046).
//
// Owner: EventTransport. Thread: any.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "protocol/brokers/change_relay.h"
#include "protocol/simulation/loop_thread.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::service {

class RelayThread {
public:
    /// What it uses on its thread, and nobody else meanwhile.
    struct Ports {
        rs::ChangeLog& log; // of the database
        rs::BrokerPublisher& broker;
        rs::SqlConnection& table; // has relay_state
        rs::Topics topics;
    };
    RelayThread(Ports ports, std::uint64_t seed);
    ~RelayThread() { stop(); }
    RelayThread(const RelayThread&) = delete;
    RelayThread& operator=(const RelayThread&) = delete;

    /// This process is the relay from now on, under this lease; nullopt: leases are not in use.
    void lead(std::optional<rs::RelayLease> lease);
    /// It is not any more, or does not know whether it is.
    void rest();
    /// There was a commit.
    void wake();
    /// Ends the thread after what it is at.
    void stop();

    struct Status {
        bool leads = false;
        rs::RelayStatus relay; // its counters: of all relays that this process has been
    };
    [[nodiscard]] Status status() const;

private:
    using TimePoint = SteadyClock::time_point;
    struct Order {
        bool leads = false;
        std::optional<rs::RelayLease> lease;
    };

    void give(Order order);
    void run();
    std::optional<TimePoint> step();
    void take_order();
    void report();

    const Ports ports_;
    const std::uint64_t seed_;

    // Of the thread.
    std::optional<rs::RelayTable> table_;
    std::optional<rs::ChangeRelay> relay_; // nullopt: this process is not the relay
    rs::RelayStatus before_;               // counters of those that ended

    mutable std::mutex mutex_; // guards what follows, up to the next comment
    std::condition_variable bell_;
    std::optional<Order> order_; // that was not taken
    bool is_woken_ = false;
    bool is_stopping_ = false;
    Status status_;

    LoopThread thread_; // the last one: it begins when everything else is there
};

} // namespace yk::service
