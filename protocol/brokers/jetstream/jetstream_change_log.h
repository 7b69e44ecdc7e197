// SPDX-License-Identifier: Apache-2.0
#pragma once
// JetStreamChangeLog: change events from a stream of NATS, which is one lane; the position in it is the sequence of the
// last message that was read. An ordered consumer brings the messages, without state at the server and without
// acknowledgements.
//
// A server begins at the first message that it still has when the wanted one is gone, and says nothing of it. So
// sequences are counted here, each the one before it and 1, and the stream is looked at after each subscription, each
// reconnect, and while nothing comes (rs R-166). A server that lost the end of its disk, and has other messages now
// where this log was, is known by the time at which it stored the message that was read last.
//
// Owner: the program. Thread: one call at a time.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "libcore/resource_state/ports/change_log.h"
#include "protocol/brokers/jetstream/nats_connection.h"
#include "protocol/brokers/relay_epoch.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::rs {

class JetStreamChangeLog final : public ChangeLog {
public:
    /// The server need not be there; an Error is one in the settings.
    [[nodiscard]] static Result<std::unique_ptr<JetStreamChangeLog>> make(const NatsSettings& settings);

    [[nodiscard]] Result<void, LogFault> open(const CapturedCursor& from) override;
    [[nodiscard]] Result<EventBatch, LogFault> poll(std::size_t most) override;

private:
    JetStreamChangeLog(const NatsSettings& settings, std::unique_ptr<NatsConnection> connection)
        : settings_(settings), connection_(std::move(connection)) {}

    [[nodiscard]] Result<Cursor, LogFault> read_latest() override;
    [[nodiscard]] std::string epoch_of(const StreamState& stream) const;
    [[nodiscard]] Result<void, LogFault> check(const StreamState& stream) const;
    [[nodiscard]] Result<void, LogFault> subscribe();
    [[nodiscard]] Result<void, LogFault> fill(EventBatch& batch, std::size_t most);
    [[nodiscard]] Result<void, LogFault> take(__natsMsg& message, EventBatch& batch);
    [[nodiscard]] Result<void, LogFault> take_event(__natsMsg& message, EventBatch& batch);
    [[nodiscard]] Result<void, LogFault> look();
    [[nodiscard]] Result<void, LogFault> check_last() const;
    [[nodiscard]] std::uint64_t& sequence() { return position_.lanes[0].sequence; }
    [[nodiscard]] std::uint64_t sequence() const { return position_.lanes[0].sequence; }

    const NatsSettings settings_;
    const std::unique_ptr<NatsConnection> connection_;
    NatsSubscription subscription_; // of connection_
    Cursor position_;
    std::int64_t stored_ = 0; // when the server stored the message at the position; 0: not known
    StreamState captured_;    // at the last capture
    RelayEpoch relay_;
    std::uint64_t reconnects_ = 0;       // when the stream was looked at
    SteadyClock::time_point looked_;     //
    SteadyClock::time_point moved_;      // when a message came, or there was none to come
    std::optional<LogFault> late_fault_; // of the next poll
};

} // namespace yk::rs
