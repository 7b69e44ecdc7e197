// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/transport/broker_ends.h"

#include <utility>

#include "protocol/brokers/mcs_topics.h"
#ifdef YK_WITH_KAFKA
#include "protocol/brokers/kafka/kafka_change_log.h"
#include "protocol/brokers/kafka/kafka_publisher.h"
#endif
#ifdef YK_WITH_NATS
#include "protocol/brokers/jetstream/event_subject.h"
#include "protocol/brokers/jetstream/jetstream_change_log.h"
#include "protocol/brokers/jetstream/jetstream_publisher.h"
#endif

namespace yk::service {
namespace {

using Opened = Result<std::optional<BrokerEnds>>;

/// Of a broker that hangs: it is asked on the thread that answers users.
[[maybe_unused]] constexpr Duration kPatience = std::chrono::seconds{1};

[[maybe_unused]] Error built_without(const std::string& what, const std::string& package, const std::string& option) {
    return Error::at("mcs.transport", "this ykd was built without " + what + " (" + package + ", " + option + ")");
}

#ifdef YK_WITH_KAFKA
Opened open_kafka(const KafkaChoice& chosen) {
    rs::KafkaSettings settings;
    settings.brokers = chosen.brokers;
    settings.prefix = chosen.prefix;
    settings.topics = mcs::topics_of_kinds();
    settings.properties = chosen.properties;
    auto publisher = std::make_unique<rs::KafkaPublisher>(settings);
    settings.timeout = kPatience;
    YK_TRY(log, rs::KafkaChangeLog::make(settings));
    return std::optional{BrokerEnds{"kafka", chosen.brokers, chosen.fallback_after, mcs::topics_of_kinds(),
                                    std::move(log), std::move(publisher)}};
}
#else
Opened open_kafka(const KafkaChoice& /*chosen*/) {
    return built_without("Kafka", "librdkafka-dev", "YK_WITH_KAFKA");
}
#endif

#ifdef YK_WITH_NATS
Opened open_nats(const NatsChoice& chosen, std::uint64_t seed) {
    rs::NatsSettings settings;
    settings.url = chosen.url;
    settings.prefix = chosen.stream;
    settings.topics = mcs::topics_of_kinds();
    settings.create = chosen.create;
    settings.seed = seed;
    auto publisher = std::make_unique<rs::JetStreamPublisher>(settings);
    settings.timeout = kPatience;
    settings.seed = seed + 1;
    YK_TRY(log, rs::JetStreamChangeLog::make(settings));
    return std::optional{BrokerEnds{"nats", rs::shown_address(std::string_view{chosen.url}), chosen.fallback_after,
                                    mcs::topics_of_kinds(), std::move(log), std::move(publisher)}};
}
#else
Opened open_nats(const NatsChoice& /*chosen*/, std::uint64_t /*seed*/) {
    return built_without("NATS", "libnats-dev", "YK_WITH_NATS");
}
#endif

} // namespace

Result<std::optional<BrokerEnds>> open_broker(const EventSettings& settings, std::uint64_t seed) {
    switch (settings.transport) {
    case EventTransportKind::Kafka: return open_kafka(settings.kafka);
    case EventTransportKind::Nats: return open_nats(settings.nats, seed);
    default: return std::optional<BrokerEnds>{};
    }
}

} // namespace yk::service
