// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/kafka/kafka_client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include <librdkafka/rdkafka.h>

namespace yk::rs {
namespace {

using Pairs = std::vector<std::pair<const char*, const char*>>;

constexpr std::size_t kReason = 512;       // bytes for what librdkafka says
constexpr unsigned kProbes = 5;            // with limits from the shortest, each twice as long as the one before
constexpr std::size_t kMostParts = 10'000; // of a topic; a broker that names more is none

/// What users may choose otherwise.
const Pairs kProducerDefaults{{"linger.ms", "5"}};
const Pairs kConsumerDefaults{{"fetch.wait.max.ms", "10"}, {"socket.timeout.ms", "10000"}, {"group.id", "ykd"}};
/// What the promises of a change log rest on. A message that is not yet taken is waited for, however long.
const Pairs kProducerFixed{{"enable.idempotence", "true"},
                           {"acks", "all"},
                           {"message.timeout.ms", "0"},
                           {"allow.auto.create.topics", "false"}};
const Pairs kConsumerFixed{{"enable.auto.commit", "false"},       {"enable.auto.offset.store", "false"},
                           {"auto.offset.reset", "error"},        {"enable.partition.eof", "true"},
                           {"isolation.level", "read_committed"}, {"allow.auto.create.topics", "false"}};
/// Other names of some of these, and what the settings have a key of their own for.
constexpr std::array<const char*, 5> kNotHere{"request.required.acks", "delivery.timeout.ms", "bootstrap.servers",
                                              "metadata.broker.list", "transactional.id"};

struct ConfDeleter {
    void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, ConfDeleter>;
struct ListDeleter {
    void operator()(rd_kafka_topic_partition_list_t* list) const { rd_kafka_topic_partition_list_destroy(list); }
};
using List = std::unique_ptr<rd_kafka_topic_partition_list_t, ListDeleter>;

Result<void> set(rd_kafka_conf_t& conf, const std::string& name, const std::string& value) {
    std::array<char, kReason> reason{};
    if (rd_kafka_conf_set(&conf, name.c_str(), value.c_str(), reason.data(), reason.size()) == RD_KAFKA_CONF_OK)
        return {};
    return Error::at("mcs.kafka.properties", std::string{reason.data()});
}

Result<void> set(rd_kafka_conf_t& conf, const Pairs& pairs) {
    for (const auto& [name, value] : pairs) YK_CHECKED(set(conf, name, value));
    return {};
}

} // namespace

Result<void> check_kafka_properties(const KafkaProperties& properties) {
    for (const auto& [name, value] : properties) {
        const auto is_it = [&key = name](const auto& pair) { return key == pair.first; };
        if (std::any_of(kProducerFixed.begin(), kProducerFixed.end(), is_it) ||
            std::any_of(kConsumerFixed.begin(), kConsumerFixed.end(), is_it))
            return Error::at("mcs.kafka.properties." + name, "events would be lost with another value; leave it out");
        if (std::find(kNotHere.begin(), kNotHere.end(), name) != kNotHere.end())
            return Error::at("mcs.kafka.properties." + name, "it is not to be set here; leave it out");
        const Conf conf{rd_kafka_conf_new()};
        if (const auto done = set(*conf, name, value); !done.ok())
            return Error::at("mcs.kafka.properties." + name, done.error().message);
    }
    return {};
}

namespace {

Result<void> try_roles(const KafkaProperties& properties) {
    KafkaSettings settings;
    settings.properties = properties;
    for (const auto role : {KafkaClient::Role::Producer, KafkaClient::Role::Consumer}) {
        const auto made = KafkaClient::open(role, settings);
        if (!made.ok()) return made.error();
    }
    return {};
}

} // namespace

/// The one that is wrong by itself is named; of several that do not go together librdkafka says which.
Result<void> try_kafka_properties(const KafkaProperties& properties) {
    YK_CHECKED(check_kafka_properties(properties));
    const auto all = try_roles(properties);
    if (all.ok()) return {};
    for (const auto& each : properties)
        if (const auto alone = try_roles({each}); !alone.ok())
            return Error::at("mcs.kafka.properties." + each.first, alone.error().message);
    return Error::at("mcs.kafka.properties", all.error().message);
}

KafkaClient::KafkaClient(const KafkaSettings& settings) : settings_(settings) {
    for (const Topic& topic : settings.topics) names_.push_back(settings.prefix + topic.name);
}

Result<std::unique_ptr<KafkaClient>> KafkaClient::open(Role role, const KafkaSettings& settings) {
    YK_CHECKED(check_kafka_properties(settings.properties));
    std::unique_ptr<KafkaClient> client{new KafkaClient{settings}};
    YK_CHECKED(client->make(role));
    return client;
}

Result<void> KafkaClient::make(Role role) {
    const bool is_producer = role == Role::Producer;
    Conf conf{rd_kafka_conf_new()};
    YK_CHECKED(set(*conf, is_producer ? kProducerDefaults : kConsumerDefaults));
    for (const auto& [name, value] : settings_.properties) YK_CHECKED(set(*conf, name, value));
    YK_CHECKED(set(*conf, is_producer ? kProducerFixed : kConsumerFixed));
    if (!settings_.brokers.empty()) YK_CHECKED(set(*conf, "bootstrap.servers", settings_.brokers));
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    rd_kafka_conf_set_log_cb(conf.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
    if (is_producer) rd_kafka_conf_set_dr_msg_cb(conf.get(), on_delivery);
    std::array<char, kReason> reason{};
    handle_ =
        rd_kafka_new(is_producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf.get(), reason.data(), reason.size());
    if (handle_ == nullptr) return Error::at("mcs.kafka", std::string{reason.data()});
    static_cast<void>(conf.release()); // it is the handle's now
    if (!is_producer) rd_kafka_poll_set_consumer(handle_);
    for (const std::string& name : names_) topics_.push_back(rd_kafka_topic_new(handle_, name.c_str(), nullptr));
    return {};
}

namespace {

/// librdkafka 2.0 never ends the threads of a consumer whose topic has lost partitions meanwhile. Such a one is left to
/// itself, with what it has allocated, so that whoever ends it goes on.
void end_consumer(rd_kafka_t* handle) {
    constexpr std::chrono::seconds kMostForEnd{3};
    std::promise<void> promise;
    const std::future<void> ended = promise.get_future();
    std::thread{[handle, promise = std::move(promise)]() mutable {
        rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
        promise.set_value();
    }}.detach();
    ended.wait_for(kMostForEnd);
}

} // namespace

/// What is under way is not waited for.
KafkaClient::~KafkaClient() {
    if (handle_ == nullptr) return;
    for (rd_kafka_topic_t* const topic : topics_)
        if (topic != nullptr) rd_kafka_topic_destroy(topic);
    if (rd_kafka_type(handle_) == RD_KAFKA_CONSUMER) {
        end_consumer(handle_);
        return;
    }
    rd_kafka_purge(handle_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
    rd_kafka_destroy(handle_);
}

std::size_t KafkaClient::find_topic(std::string_view name) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

// --- questions -------------------------------------------------------------------------------------------------------

/// Brokers that are away cost little time, and those that answer slowly get as much as at other times now and then.
int KafkaClient::timeout_ms() const {
    const auto doublings = failures_ % kProbes;
    const Duration limit =
        is_away_ ? std::min(settings_.probe * (1 << doublings), settings_.timeout) : settings_.timeout;
    return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(allowance_.left(limit)).count());
}

Error KafkaClient::failed(std::string what, int code) {
    if (is_away_) ++failures_;
    is_away_ = true;
    return Error::at("kafka " + settings_.brokers,
                     std::move(what) + ": " + rd_kafka_err2str(static_cast<rd_kafka_resp_err_t>(code)));
}

Result<std::string> KafkaClient::cluster() {
    char* const id = rd_kafka_clusterid(handle_, timeout_ms());
    if (id == nullptr) return failed("the cluster does not say who it is", RD_KAFKA_RESP_ERR__TIMED_OUT);
    std::string name{id};
    rd_kafka_mem_free(handle_, id);
    answered();
    return name;
}

/// All topics by one question: those that the handle knows.
Result<KafkaLayout> KafkaClient::layout() {
    const rd_kafka_metadata_t* found = nullptr;
    const auto code = rd_kafka_metadata(handle_, 0, nullptr, &found, timeout_ms());
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return failed("no answer about the topics", code);
    const std::unique_ptr<const rd_kafka_metadata_t, void (*)(const rd_kafka_metadata_t*)> metadata{
        found, rd_kafka_metadata_destroy};
    answered();
    KafkaLayout layout{std::vector<std::size_t>(settings_.topics.size(), 0)};
    for (int each = 0; each < metadata->topic_cnt; ++each) {
        const auto& topic = metadata->topics[each];
        const std::size_t place = find_topic(topic.topic);
        if (place == settings_.topics.size() || topic.err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
        layout.counts[place] = static_cast<std::size_t>(std::max(topic.partition_cnt, 0));
    }
    for (std::size_t topic = 0; topic < layout.counts.size(); ++topic) {
        const std::size_t count = layout.counts[topic];
        if (count > 0 && count <= kMostParts) continue;
        const std::string& name = topic_name(topic);
        return Error::at("kafka " + settings_.brokers,
                         "there is no topic " + name + " to be used; make it: kafka-topics.sh --create --topic " +
                             name + " --partitions 4 --bootstrap-server " + settings_.brokers);
    }
    return layout;
}

/// By way of a question for times, which keeps its limit; that for watermarks does not while brokers are away (rs
/// All of them or none: after a time-out the elements look as if they were well, with an offset of -1.
Result<KafkaClient::Offsets> KafkaClient::offsets(const KafkaLayout& layout, End end) {
    const List list{rd_kafka_topic_partition_list_new(static_cast<int>(layout.lanes()))};
    for (std::size_t topic = 0; topic < layout.counts.size(); ++topic)
        for (std::size_t part = 0; part < layout.counts[topic]; ++part)
            rd_kafka_topic_partition_list_add(list.get(), topic_name(topic).c_str(), static_cast<std::int32_t>(part))
                ->offset = end == End::First ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
    const auto code = rd_kafka_offsets_for_times(handle_, list.get(), timeout_ms());
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return failed("no answer about the ends of the topics", code);
    Offsets offsets;
    for (int each = 0; each < list->cnt; ++each) {
        const auto& element = list->elems[each];
        if (element.err != RD_KAFKA_RESP_ERR_NO_ERROR || element.offset < 0)
            return failed("no answer about the end of " + std::string{element.topic} + " partition " +
                              std::to_string(element.partition),
                          element.err != RD_KAFKA_RESP_ERR_NO_ERROR ? element.err : RD_KAFKA_RESP_ERR__TIMED_OUT);
        offsets.push_back(element.offset);
    }
    answered();
    return offsets;
}

// --- callbacks -------------------------------------------------------------------------------------------------------

void KafkaClient::on_error(rd_kafka_t* handle, int code, const char* reason, void* self) {
    auto& client = *static_cast<KafkaClient*>(self);
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) client.is_away_ = true;
    if (code != RD_KAFKA_RESP_ERR__FATAL) return;
    std::array<char, kReason> text{};
    rd_kafka_fatal_error(handle, text.data(), text.size());
    client.fatal_ = std::string{reason} + ": " + text.data();
}

void KafkaClient::on_delivery(rd_kafka_t* /*handle*/, const rd_kafka_message_t* message, void* self) {
    auto& client = *static_cast<KafkaClient*>(self);
    const auto number = reinterpret_cast<std::uintptr_t>(message->_private);
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) client.answered();
    client.deliveries_.push_back(
        {number, message->err == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : rd_kafka_err2str(message->err)});
}

std::vector<KafkaClient::Delivery> KafkaClient::take_deliveries() {
    rd_kafka_poll(handle_, 0);
    return std::exchange(deliveries_, {});
}

} // namespace yk::rs
