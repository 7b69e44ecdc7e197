// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/kafka/kafka_publisher.h"

#include <utility>

#include <librdkafka/rdkafka.h>

#include "protocol/brokers/broker_message.h"

namespace yk::rs {
namespace {

BrokerFault down(std::string message) {
    return {BrokerFault::What::Down, std::move(message)};
}

struct HeadersDeleter {
    void operator()(rd_kafka_headers_t* headers) const { rd_kafka_headers_destroy(headers); }
};

void add(rd_kafka_headers_t& headers, const char* name, const std::string& value) {
    rd_kafka_header_add(&headers, name, -1, value.data(), static_cast<ssize_t>(value.size()));
}

} // namespace

/// A new producer, since an old one may still have messages that it would send once more.
Result<void, BrokerFault> KafkaPublisher::begin() {
    client_.reset();
    answers_.forget();
    auto made = KafkaClient::open(KafkaClient::Role::Producer, settings_);
    if (!made.ok()) return down(made.error().text());
    client_ = std::move(made).value();
    auto cluster = client_->cluster();
    if (!cluster.ok()) return down(cluster.error().text());
    identity_ = "kafka " + *cluster + ' ' + settings_.prefix;
    return refresh();
}

Result<void, BrokerFault> KafkaPublisher::refresh() {
    auto layout = client_->layout();
    if (!layout.ok()) return down(layout.error().text());
    layout_ = std::move(layout).value();
    refreshed_ = SteadyClock::now();
    return {};
}

Lanes KafkaPublisher::lanes(Kind kind) const {
    for (std::size_t topic = 0; topic < settings_.topics.size(); ++topic)
        if (settings_.topics[topic].kind == kind) return {client_->topic_name(topic), layout_.counts[topic]};
    return {};
}

/// The partition is given, so that all relays choose alike; a full queue of the producer is no fault.
Result<bool, BrokerFault> KafkaPublisher::send(const RelayedMessage& message) {
    if (auto late = answers_.take_fault()) return *std::move(late);
    std::string value = message_value(message.event), key = message.event.id;
    std::unique_ptr<rd_kafka_headers_t, HeadersDeleter> headers{rd_kafka_headers_new(3)};
    add(*headers, kEpochHeader, message.epoch);
    add(*headers, kPositionHeader, message.event.at.text());
    add(*headers, kPreviousHeader, message.previous.text());
    rd_kafka_vu_t parts[7] = {};
    parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    parts[0].u.cstr = message.lane.topic.c_str();
    parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
    parts[1].u.i32 = static_cast<std::int32_t>(message.lane.part);
    parts[2].vtype = RD_KAFKA_VTYPE_KEY;
    parts[2].u.mem.ptr = key.data();
    parts[2].u.mem.size = key.size();
    parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
    parts[3].u.mem.ptr = value.data();
    parts[3].u.mem.size = value.size();
    parts[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[4].u.i = RD_KAFKA_MSG_F_COPY;
    parts[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number, which comes back as it is
    parts[5].u.ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(message.number));
    parts[6].vtype = RD_KAFKA_VTYPE_HEADERS;
    parts[6].u.headers = headers.get();
    rd_kafka_error_t* const error = rd_kafka_produceva(client_->handle(), parts, 7);
    if (error == nullptr) {
        static_cast<void>(headers.release()); // they are the message's now
        return true;
    }
    const auto code = rd_kafka_error_code(error);
    std::string text = rd_kafka_error_string(error);
    rd_kafka_error_destroy(error);
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
    return down("kafka takes no message for " + message.lane.topic + ": " + text);
}

Result<std::vector<BrokerPublisher::Number>, BrokerFault> KafkaPublisher::take_acknowledged() {
    if (auto late = answers_.take_fault()) return *std::move(late);
    std::vector<Number> safe;
    std::optional<BrokerFault> fault;
    for (auto& each : client_->take_deliveries()) {
        if (each.fault.empty())
            safe.push_back(each.number);
        else if (!fault)
            fault = down("kafka has not kept a message: " + each.fault);
    }
    if (!fault && !client_->fatal().empty()) fault = down("kafka: " + client_->fatal());
    if (!fault && !client_->is_away() && SteadyClock::now() - refreshed_ >= settings_.refresh)
        if (auto fresh = refresh(); !fresh.ok()) fault = std::move(fresh).error();
    return answers_.answer(std::move(safe), std::move(fault));
}

} // namespace yk::rs
