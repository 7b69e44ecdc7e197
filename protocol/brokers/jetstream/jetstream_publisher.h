// SPDX-License-Identifier: Apache-2.0
#pragma once
// JetStreamPublisher: sends messages of a relay into the stream of change events, all of which is one lane.
//
// Each message names the last sequence that the stream must have, so that no other relay can write in between without
// both noticing; and an id, by which the server drops what it has already (rs R-167). At the beginning it is not known
// how much of what comes again is there: messages go one by one until the first that is new. Those that then follow
// without a pause name the id of the one before them, too: when that is refused since others have written, its
// successor might have just the sequence that the stream has come to by then.
//
// A server says that a message is safe before the disk has it: when its machine loses power, the last ones may be gone.
// So at each beginning the last message is compared with what was noted as safe.
//
// Owner: the program. Thread: that of the relay.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/brokers/broker_publisher.h"
#include "protocol/brokers/jetstream/nats_connection.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::rs {

class JetStreamPublisher final : public BrokerPublisher {
public:
    explicit JetStreamPublisher(NatsSettings settings) : settings_(std::move(settings)) {}

    [[nodiscard]] Result<void, BrokerFault> begin() override;
    [[nodiscard]] std::string identity() const override { return identity_; }
    [[nodiscard]] Lanes lanes(Kind /*kind*/) const override { return {settings_.prefix, 1}; }
    [[nodiscard]] bool still_has(const LaneName& lane, const std::string& epoch, const Position& last) const override;
    [[nodiscard]] Result<bool, BrokerFault> send(const RelayedMessage& message) override;
    [[nodiscard]] Result<std::vector<Number>, BrokerFault> take_acknowledged() override;

private:
    struct UnderWay {
        Number number = 0;
        SteadyClock::time_point sent;
        bool is_over = false;
    };

    /// Where a message of a relay stands.
    struct Tail {
        std::string epoch;
        Position at;
        std::string topic; // it announces that this kind has to be read anew; empty: it is of a row
    };

    [[nodiscard]] Result<void, BrokerFault> read_tail(const StreamState& stream);
    [[nodiscard]] Result<void, BrokerFault> listen();
    [[nodiscard]] Result<NatsMessage, BrokerFault> make_message(const RelayedMessage& message);
    [[nodiscard]] bool is_lost() const;
    [[nodiscard]] Error lost() const;
    [[nodiscard]] Result<void, BrokerFault> take_replies(std::vector<Number>& safe);
    [[nodiscard]] Result<void, BrokerFault> check_under_way() const;
    [[nodiscard]] Result<void, BrokerFault> take(__natsMsg& reply, std::vector<Number>& safe);
    [[nodiscard]] std::string_view topic_of(Kind kind) const;
    [[nodiscard]] std::string topic_of_relist(__natsMsg* message) const;

    const NatsSettings settings_;
    std::unique_ptr<NatsConnection> connection_;
    std::string identity_;
    std::string inbox_; // where acknowledgements come, with a point and the number behind it
    NatsSubscription acknowledgements_;
    std::uint64_t reconnects_ = 0; // when it began
    std::uint64_t last_ = 0;       // sequence of the stream when everything under way has arrived
    bool is_probing_ = true;
    bool was_empty_ = false;   // it never had a message when it began
    std::optional<Tail> tail_; // the last message of a relay then; nullopt: it is not known
    Acknowledgements answers_;
    std::string last_id_;            // of the message that was sent last
    std::deque<UnderWay> under_way_; // by ascending number
    std::size_t open_ = 0;           // of them
};

} // namespace yk::rs
