// SPDX-License-Identifier: Apache-2.0
#pragma once
// EventSettings: by what way changes of the database get to the memory of each daemon (section 5 of
// docs/spec/resource-state.md), and what may be wrong with the keys that say so.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "ykd/settings/key_fault.h"

namespace yk::service {

enum class EventTransportKind { Embedded, Kafka, Nats };
[[nodiscard]] std::optional<EventTransportKind> find_transport(std::string_view name); // embedded, kafka, nats

struct KafkaChoice {
    std::string brokers;                                // HOST:PORT,...
    std::string prefix = "gns.";                        // of the topics
    std::map<std::string, std::string> properties;      // for librdkafka; passwords among them
    Duration fallback_after = std::chrono::seconds{30}; // that it is away; 0: never (rs R-056)
};
struct NatsChoice {
    std::string url;            // nats://HOST:PORT,...; a password may stand in it
    std::string stream = "gns"; // and the beginning of its subjects
    bool create = true;         // the stream, where it is missing
    Duration fallback_after = std::chrono::seconds{30};
};

struct EventSettings {
    EventTransportKind transport = EventTransportKind::Embedded;
    KafkaChoice kafka; // where that is chosen
    NatsChoice nats;   // likewise
};

/// Whether it is the path of one of their keys: `mcs.transport`, or of `mcs.kafka` or `mcs.nats`.
[[nodiscard]] bool is_event_key(std::string_view path);

/// `keys`: those that the settings have. A broker that this program was built without is a fault, and so is a key that
/// has no effect with this transport.
[[nodiscard]] std::vector<KeyFault> check_event_settings(const EventSettings& settings,
                                                         const std::vector<std::string>& keys);

} // namespace yk::service
