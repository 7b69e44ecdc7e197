// SPDX-License-Identifier: Apache-2.0
#ifdef YK_WITH_KAFKA
#include "tests/support/brokers/mock_kafka.h"

#include <array>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "libcore/base/check.h"

namespace yk::testing {
namespace {

constexpr std::int16_t kFetch = 1;               // requests for messages, as the protocol numbers them
constexpr const char* kMostMessage = "20000000"; // bytes; real producers refuse more than 1 MB unless they are set so

rd_kafka_t* new_producer(const std::string& brokers) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    std::array<char, 512> reason{};
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    rd_kafka_conf_set(conf, "message.max.bytes", kMostMessage, reason.data(), reason.size());
    rd_kafka_conf_set(conf, "reconnect.backoff.max.ms", "100", reason.data(), reason.size());
    if (!brokers.empty()) rd_kafka_conf_set(conf, "bootstrap.servers", brokers.c_str(), reason.data(), reason.size());
    rd_kafka_t* const handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason.data(), reason.size());
    YK_CHECK(handle != nullptr, reason.data());
    return handle;
}

} // namespace

MockKafka::MockKafka() : handle_(new_producer("")) {
    cluster_ = rd_kafka_mock_cluster_new(handle_, kBrokers);
    YK_CHECK(cluster_ != nullptr, "librdkafka makes no cluster");
    producer_ = new_producer(brokers());
}

MockKafka::~MockKafka() {
    rd_kafka_destroy(producer_);
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(handle_);
}

std::string MockKafka::brokers() const {
    return rd_kafka_mock_cluster_bootstraps(cluster_);
}

void MockKafka::create(const std::string& topic, int partitions) {
    const rd_kafka_resp_err_t fault = rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
    YK_CHECK(fault == RD_KAFKA_RESP_ERR_NO_ERROR, "the cluster makes no topic");
}

void MockKafka::hide(const std::string& topic) {
    rd_kafka_mock_topic_set_error(cluster_, topic.c_str(), RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

void MockKafka::refuse_fetches(int count) {
    for (; count > 0; --count)
        rd_kafka_mock_push_request_errors(cluster_, kFetch, 1, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
}

void MockKafka::let_fetch() {
    rd_kafka_mock_clear_request_errors(cluster_, kFetch);
}

void MockKafka::set_delay(std::chrono::milliseconds delay) {
    rd_kafka_mock_broker_set_rtt(cluster_, -1, static_cast<int>(delay.count()));
}

void MockKafka::set_down() {
    for (int broker = 1; broker <= kBrokers; ++broker) rd_kafka_mock_broker_set_down(cluster_, broker);
}

void MockKafka::set_up() {
    for (int broker = 1; broker <= kBrokers; ++broker) rd_kafka_mock_broker_set_up(cluster_, broker);
}

void MockKafka::produce(const std::string& topic, int partition, const std::string& key,
                        const std::optional<std::string>& value, const Headers& headers) {
    rd_kafka_headers_t* const list = rd_kafka_headers_new(headers.size());
    for (const auto& [name, text] : headers)
        rd_kafka_header_add(list, name.c_str(), -1, text.data(), static_cast<ssize_t>(text.size()));
    std::string bytes = value.value_or(""), name = key;
    rd_kafka_vu_t parts[6] = {};
    parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    parts[0].u.cstr = topic.c_str();
    parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
    parts[1].u.i32 = partition;
    parts[2].vtype = RD_KAFKA_VTYPE_KEY;
    parts[2].u.mem.ptr = name.data();
    parts[2].u.mem.size = name.size();
    parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
    parts[3].u.mem.ptr = value ? bytes.data() : nullptr;
    parts[3].u.mem.size = bytes.size();
    parts[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[4].u.i = RD_KAFKA_MSG_F_COPY;
    parts[5].vtype = RD_KAFKA_VTYPE_HEADERS;
    parts[5].u.headers = list;
    YK_CHECK(rd_kafka_produceva(producer_, parts, 6) == nullptr, "the message cannot be sent");
    YK_CHECK(rd_kafka_flush(producer_, 20'000) == RD_KAFKA_RESP_ERR_NO_ERROR, "the brokers do not have the message");
}

} // namespace yk::testing
#endif
