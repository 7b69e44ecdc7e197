// SPDX-License-Identifier: Apache-2.0
#pragma once
// EventTransport: the way by which changes of the database get to the caches: its own change log, or a broker, to which
// one of the processes with the database copies that log. While the broker is away for long the database's own log
// stands in for it (rs R-056).
//
// Owner: McsApplication. Thread: that of MCS. The relay has a thread of its own.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libcore/resource_state/event_handler.h"
#include "protocol/brokers/fallback_change_log.h"
#include "ykd/mcs/transport/broker_ends.h"
#include "ykd/mcs/transport/relay_thread.h"

namespace yk::service {

/// The connections that a relay has for itself.
struct RelayConnections {
    std::unique_ptr<rs::SqlConnection> log_connection, table;
    std::unique_ptr<rs::ChangeLog> log; // by log_connection
};

/// How the broker and the relay are. Plain values.
struct TransportStatus {
    std::string name, place;
    bool is_up = false;        // the broker lets itself be read
    bool is_on_broker = false; // events come from it, or are to; else from the database
    Duration down_for{};       // how long it has not let itself be read
    std::string fault;         // what it last said of that
    RelayThread::Status relay;
    Duration relay_waits{}; // how long no message was acknowledged, though some are to be
    Duration relay_lag{};   // how long something is in the database that no process's relay has sent
};

class EventTransport {
public:
    /// `database`: its own change log, which outlives this, as does `questions`, a connection of this thread. Nothing
    /// of `relay` is used without a broker.
    EventTransport(std::optional<BrokerEnds> broker, RelayConnections relay, rs::ChangeLog& database,
                   rs::SqlConnection& questions, std::uint64_t seed);
    EventTransport(const EventTransport&) = delete;
    EventTransport& operator=(const EventTransport&) = delete;

    /// What the caches follow.
    [[nodiscard]] rs::ChangeLog& log();
    [[nodiscard]] bool has_broker() const { return broker_.has_value(); }

    /// Whether this process is the relay. `lease`: nullopt: another one is; `holder`: who this one is in the table of
    /// leases, empty: leases are not in use. REQUIRES: has_broker().
    void set_relay(const std::optional<rs::Lease>& lease, const std::string& holder);
    /// Whether the relay of this process has got nowhere for so long that another process should try: true once, and
    /// again after twice as long. To be called every second or so. REQUIRES: has_broker().
    [[nodiscard]] bool is_relay_to_give_up(Instant now);
    /// This process has committed something.
    void wake();
    /// The relay ends. To be called before its lease is given up.
    void stop();

    /// nullopt: there is no broker.
    [[nodiscard]] std::optional<TransportStatus> status(Instant now) const;
    /// What is wrong with it, for operators; empty: nothing.
    [[nodiscard]] std::string trouble(Instant now) const;

private:
    [[nodiscard]] Duration first_patience() const;

    std::optional<BrokerEnds> broker_;
    RelayConnections connections_;
    rs::ChangeLog& database_;
    std::optional<rs::FallbackChangeLog> fallback_;
    Duration relay_patience_{};         // with a relay that gets nowhere
    std::optional<Instant> relay_well_; // when it last got on, or was not ours
    std::uint64_t confirmed_ = 0;
    struct GivenUp {
        Instant at;
        std::string why;
    };
    std::optional<GivenUp> given_up_;    // the lease, and no relay of this process got on since
    std::unique_ptr<RelayThread> relay_; // it uses all of the above
};

} // namespace yk::service
