// SPDX-License-Identifier: Apache-2.0
#pragma once
// KafkaPublisher: sends messages of a relay to the topics of their kinds, by an idempotent producer that waits until
// all replicas have them. While no broker is there it goes on waiting; what is under way then arrives when one is back
// (rs R-046).
//
// Owner: the program. Thread: that of the relay.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/brokers/broker_publisher.h"
#include "protocol/brokers/kafka/kafka_client.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::rs {

class KafkaPublisher final : public BrokerPublisher {
public:
    explicit KafkaPublisher(KafkaSettings settings) : settings_(std::move(settings)) {}

    [[nodiscard]] Result<void, BrokerFault> begin() override;
    [[nodiscard]] std::string identity() const override { return identity_; }
    [[nodiscard]] Lanes lanes(Kind kind) const override;
    [[nodiscard]] Result<bool, BrokerFault> send(const RelayedMessage& message) override;
    [[nodiscard]] Result<std::vector<Number>, BrokerFault> take_acknowledged() override;
    /// Else it would still send, when the broker is back, what another relay has sent meanwhile.
    void end() override { client_.reset(); }

private:
    [[nodiscard]] Result<void, BrokerFault> refresh();

    const KafkaSettings settings_;
    std::unique_ptr<KafkaClient> client_; // there after begin()
    std::string identity_;
    Acknowledgements answers_;
    KafkaLayout layout_;
    SteadyClock::time_point refreshed_;
};

} // namespace yk::rs
