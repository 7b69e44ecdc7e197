// SPDX-License-Identifier: Apache-2.0
#pragma once
// KafkaClient: a handle of librdkafka, with the properties that the change events need, and the questions that both
// sides have. Each question has a limit of time, after which it fails, also while no broker can be reached.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "protocol/brokers/kafka/kafka_layout.h"
#include "protocol/brokers/time_allowance.h"

struct rd_kafka_s;
struct rd_kafka_message_s;
struct rd_kafka_topic_s;
struct rd_kafka_topic_partition_list_s;

namespace yk::rs {

using KafkaProperties = std::map<std::string, std::string>;

struct KafkaSettings {
    std::string brokers;                        // HOST:PORT,...; empty: none is to be connected to
    std::string prefix = "gns.";                // of the topics
    Topics topics;                              //
    KafkaProperties properties;                 // for librdkafka, as its documentation names them
    Duration timeout = std::chrono::seconds{2}; // of a question
    Duration probe =
        std::chrono::milliseconds{200};          // of one while no broker was there the last time; the next ones longer
    Duration look = std::chrono::seconds{5};     // how often the ends of the partitions are asked for
    Duration refresh = std::chrono::seconds{60}; // how often the numbers of partitions are
};

/// An Error names the property that may not be chosen freely, since events would be lost by it, or that librdkafka does
/// not have.
[[nodiscard]] Result<void> check_kafka_properties(const KafkaProperties& properties);

/// As before, and what only shows when a producer and a consumer are made: that files are there, and that properties go
/// together. No broker is asked.
[[nodiscard]] Result<void> try_kafka_properties(const KafkaProperties& properties);

/// Owner: a log or publisher. Thread: one at a time; callbacks come on it, too, within its polls.
class KafkaClient {
public:
    enum class Role : std::uint8_t { Producer, Consumer };
    using Offsets = std::vector<std::int64_t>; // by lane

    [[nodiscard]] static Result<std::unique_ptr<KafkaClient>> open(Role role, const KafkaSettings& settings);
    ~KafkaClient();
    KafkaClient(const KafkaClient&) = delete;
    KafkaClient& operator=(const KafkaClient&) = delete;

    [[nodiscard]] rd_kafka_s* handle() const { return handle_; }
    [[nodiscard]] const std::string& topic_name(std::size_t topic) const { return names_.at(topic); }
    /// The place in the settings of a topic by its name; their number: it is none of them.
    [[nodiscard]] std::size_t find_topic(std::string_view name) const;

    /// All questions up to the next call of this take no longer than twice the limit of one.
    void begin_call() { allowance_.begin(2 * settings_.timeout); }
    /// Identity of the cluster.
    [[nodiscard]] Result<std::string> cluster();
    [[nodiscard]] Result<KafkaLayout> layout();
    /// The offsets of the first messages that are kept, or those behind the last.
    enum class End : std::uint8_t { First, Last };
    [[nodiscard]] Result<Offsets> offsets(const KafkaLayout& layout, End end);

    /// Whether librdkafka has said that no broker can be reached, and none has answered a question since.
    [[nodiscard]] bool is_away() const { return is_away_; }
    /// What is wrong for good, if anything: the handle is of no use any more.
    [[nodiscard]] const std::string& fatal() const { return fatal_; }

    /// Of a producer: what has arrived, by the number it was given, or the reason why not.
    struct Delivery {
        std::uint64_t number = 0;
        std::string fault; // empty: it has arrived
    };
    [[nodiscard]] std::vector<Delivery> take_deliveries();

private:
    explicit KafkaClient(const KafkaSettings& settings);
    [[nodiscard]] Result<void> make(Role role);
    [[nodiscard]] int timeout_ms() const;
    /// The answer of a question is an error, or is not.
    Error failed(std::string what, int code);
    void answered() {
        is_away_ = false;
        failures_ = 0;
    }

    static void on_error(rd_kafka_s* handle, int code, const char* reason, void* self);
    static void on_delivery(rd_kafka_s* handle, const rd_kafka_message_s* message, void* self);

    const KafkaSettings settings_;
    std::vector<std::string> names_; // of the topics
    rd_kafka_s* handle_ = nullptr;
    std::vector<rd_kafka_topic_s*> topics_;
    TimeAllowance allowance_;
    bool is_away_ = false;
    unsigned failures_ = 0; // of questions since it is away
    std::string fatal_;
    std::vector<Delivery> deliveries_;
};

} // namespace yk::rs
