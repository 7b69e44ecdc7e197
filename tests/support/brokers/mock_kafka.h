// SPDX-License-Identifier: Apache-2.0
#pragma once
// MockKafka: a cluster of Kafka as librdkafka has it for tests, with two brokers in this process that listen on
// 127.0.0.1 (rs R-150).
#ifdef YK_WITH_KAFKA

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/brokers/kafka/kafka_client.h"

struct rd_kafka_mock_cluster_s;

namespace yk::testing {

class MockKafka {
public:
    static constexpr int kBrokers = 2;

    MockKafka();
    ~MockKafka();
    MockKafka(const MockKafka&) = delete;
    MockKafka& operator=(const MockKafka&) = delete;

    void create(const std::string& topic, int partitions);
    /// It looks as if there were no such topic.
    void hide(const std::string& topic);
    [[nodiscard]] std::string brokers() const;
    /// The next requests for messages are answered with a refusal.
    void refuse_fetches(int count);
    /// The refusals that are left are not given any more.
    void let_fetch();
    /// Each answer takes so long.
    void set_delay(std::chrono::milliseconds delay);
    void set_down();
    void set_up();

    /// A message of somebody who is no relay; returns when the brokers have it. nullopt: a null value.
    using Headers = std::vector<std::pair<std::string, std::string>>;
    void produce(const std::string& topic, int partition, const std::string& key,
                 const std::optional<std::string>& value, const Headers& headers = {});

private:
    rd_kafka_s* handle_ = nullptr;
    rd_kafka_mock_cluster_s* cluster_ = nullptr; // of handle_
    rd_kafka_s* producer_ = nullptr;
};

} // namespace yk::testing
#endif
