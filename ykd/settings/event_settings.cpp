// SPDX-License-Identifier: Apache-2.0
#include "ykd/settings/event_settings.h"

#include <algorithm>
#include <utility>

#ifdef YK_WITH_NATS
#include "libcore/base/number.h"
#endif
#ifdef YK_WITH_KAFKA
#include "protocol/brokers/kafka/kafka_client.h"
#endif
#ifdef YK_WITH_NATS
#include "protocol/brokers/jetstream/event_subject.h"
#endif

namespace yk::service {
namespace {

using Faults = std::vector<KeyFault>;

constexpr std::string_view kTransport = "mcs.transport", kKafka = "mcs.kafka.", kNats = "mcs.nats.";

/// The key, if it is there; else that by which the broker was chosen.
std::string or_transport(const std::string& key, const std::vector<std::string>& keys) {
    return std::find(keys.begin(), keys.end(), key) == keys.end() ? std::string{kTransport} : key;
}

void refuse(Faults& faults, const std::vector<std::string>& keys, const std::string& key, const std::string& why) {
    faults.push_back({or_transport(key, keys), key + ": " + why});
}

#ifdef YK_WITH_KAFKA
bool is_topic_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '.' || letter == '_' || letter == '-';
}

void check_kafka(const KafkaChoice& kafka, const std::vector<std::string>& keys, Faults& faults) {
    constexpr std::size_t kLongestPrefix = 200; // a topic has at most 249 letters
    if (kafka.brokers.empty())
        refuse(faults, keys, "mcs.kafka.brokers", "HOST:PORT is wanted, or several of them with commas in between");
    if (kafka.prefix.size() > kLongestPrefix || !std::all_of(kafka.prefix.begin(), kafka.prefix.end(), is_topic_letter))
        refuse(faults, keys, "mcs.kafka.topicPrefix", "at most 200 letters, digits, '.', '_' and '-' are wanted");
    if (const auto fit = rs::try_kafka_properties(kafka.properties); !fit.ok())
        faults.push_back({or_transport("mcs.kafka.properties", keys), fit.error().text()});
}
#else
void check_kafka(const KafkaChoice& /*kafka*/, const std::vector<std::string>& keys, Faults& faults) {
    refuse(faults, keys, std::string{kTransport}, "this ykd was built without Kafka (librdkafka-dev, YK_WITH_KAFKA)");
}
#endif

#ifdef YK_WITH_NATS
/// HOST, HOST:PORT or [HOST]:PORT.
bool is_host_and_port(std::string_view text) {
    const auto point = text.rfind(':'), bracket = text.rfind(']');
    if (point == std::string_view::npos || (bracket != std::string_view::npos && point < bracket)) return !text.empty();
    const auto port = to_number<std::uint16_t>(text.substr(point + 1));
    return point > 0 && port && *port > 0;
}

/// One address or several, with commas in between.
bool is_nats_url(std::string_view url) {
    for (;;) {
        const auto comma = std::min(url.find(','), url.size());
        const std::string_view one = url.substr(0, comma);
        const auto begin = one.find("://");
        const std::string_view scheme = one.substr(0, std::min(begin, one.size()));
        if ((scheme != "nats" && scheme != "tls") || begin + 3 >= one.size()) return false;
        const auto at = one.rfind('@');
        if (!is_host_and_port(one.substr(at == std::string_view::npos ? begin + 3 : at + 1))) return false;
        if (comma == url.size()) return true;
        url.remove_prefix(comma + 1);
    }
}

void check_nats(const NatsChoice& nats, const std::vector<std::string>& keys, Faults& faults) {
    if (!is_nats_url(nats.url))
        refuse(faults, keys, "mcs.nats.url", "nats://HOST:PORT or tls://HOST:PORT is wanted, or several with commas");
    if (!rs::is_stream_name(nats.stream))
        refuse(faults, keys, "mcs.nats.stream", "at most 64 letters, digits, '-' and '_' are wanted");
}
#else
void check_nats(const NatsChoice& /*nats*/, const std::vector<std::string>& keys, Faults& faults) {
    refuse(faults, keys, std::string{kTransport}, "this ykd was built without NATS (libnats-dev, YK_WITH_NATS)");
}
#endif

} // namespace

std::optional<EventTransportKind> find_transport(std::string_view name) {
    if (name == "embedded") return EventTransportKind::Embedded;
    if (name == "kafka") return EventTransportKind::Kafka;
    if (name == "nats") return EventTransportKind::Nats;
    return std::nullopt;
}

bool is_event_key(std::string_view path) {
    return path == kTransport || path.starts_with(kKafka) || path.starts_with(kNats);
}

std::vector<KeyFault> check_event_settings(const EventSettings& settings, const std::vector<std::string>& keys) {
    Faults faults;
    const bool is_kafka = settings.transport == EventTransportKind::Kafka,
               is_nats = settings.transport == EventTransportKind::Nats;
    for (const std::string& key : keys) {
        if (key.starts_with(kKafka) && !is_kafka)
            faults.push_back({key, key + ": has no effect without mcs.transport: kafka"});
        if (key.starts_with(kNats) && !is_nats)
            faults.push_back({key, key + ": has no effect without mcs.transport: nats"});
    }
    if (is_kafka) check_kafka(settings.kafka, keys, faults);
    if (is_nats) check_nats(settings.nats, keys, faults);
    return faults;
}

} // namespace yk::service
