// SPDX-License-Identifier: Apache-2.0
#pragma once
// BrokerEnds: both ends of the broker that the settings name: what is read from it, and what the relay sends to it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libcore/resource_state/ports/change_log.h"
#include "protocol/brokers/broker_publisher.h"
#include "ykd/settings/event_settings.h"

namespace yk::service {

struct BrokerEnds {
    std::string name;                               // as in the settings: kafka, nats
    std::string place;                              // for people: without passwords
    Duration fallback_after{};                      // after which the database's own log stands in; 0: never
    rs::Topics topics;                              // of all kinds
    std::unique_ptr<rs::ChangeLog> log;             // used on the thread of MCS
    std::unique_ptr<rs::BrokerPublisher> publisher; // on that of the relay
};

/// nullopt: the settings name no broker. The broker need not be there; an Error is one in the settings.
[[nodiscard]] Result<std::optional<BrokerEnds>> open_broker(const EventSettings& settings, std::uint64_t seed);

} // namespace yk::service
