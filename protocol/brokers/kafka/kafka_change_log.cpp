// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/kafka/kafka_change_log.h"

#include <string_view>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "protocol/brokers/broker_message.h"
#include "protocol/brokers/log_answers.h"
#include "protocol/brokers/message_intake.h"

namespace yk::rs {
namespace {

constexpr const char* kEveryId = "*";
constexpr unsigned kStandsStill = 2; // looks after which assigning it anew has not helped

struct MessageDeleter {
    void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using Message = std::unique_ptr<rd_kafka_message_t, MessageDeleter>;

std::string_view view(const void* data, std::size_t size) {
    return {static_cast<const char*>(data), size};
}

std::optional<std::string_view> header(const rd_kafka_message_t& message, const char* name) {
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    const void* value = nullptr;
    std::size_t size = 0;
    if (rd_kafka_header_get_last(headers, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR || value == nullptr)
        return std::nullopt;
    return view(value, size);
}

Position position_of(std::int64_t offset) {
    return {0, static_cast<std::uint64_t>(offset)};
}

} // namespace

Result<std::unique_ptr<KafkaChangeLog>> KafkaChangeLog::make(const KafkaSettings& settings) {
    YK_TRY(client, KafkaClient::open(KafkaClient::Role::Consumer, settings));
    return std::unique_ptr<KafkaChangeLog>{new KafkaChangeLog{settings, std::move(client)}};
}

KafkaChangeLog::~KafkaChangeLog() = default;

// --- positions -------------------------------------------------------------------------------------------------------

Result<Cursor, LogFault> KafkaChangeLog::read_latest() {
    client_->begin_call();
    YK_ASK(layout, client_->layout());
    YK_TRY(epoch, epoch_of(layout));
    YK_ASK(ends, client_->offsets(layout, KafkaClient::End::Last));
    Cursor latest{epoch, {}};
    for (const std::int64_t end : ends) latest.lanes.push_back(position_of(end));
    return latest;
}

/// Other numbers of partitions are another epoch: they are what lanes are counted by.
Result<std::string, LogFault> KafkaChangeLog::epoch_of(const KafkaLayout& layout) {
    YK_ASK(cluster, client_->cluster());
    return "kafka " + cluster + ' ' + layout.text(settings_.topics, settings_.prefix) + ' ' + relay_.text();
}

Result<void, LogFault> KafkaChangeLog::open(const CapturedCursor& from) {
    client_->begin_call();
    YK_ASK(layout, client_->layout());
    YK_TRY(epoch, epoch_of(layout));
    if (epoch != from.cursor().epoch || layout.lanes() != from.cursor().lanes.size())
        return gap(RelistReason::Epoch, "the topics are not those of the capture");
    late_fault_.reset();
    position_ = from.cursor();
    layout_ = layout;
    std::vector<std::int64_t> next;
    for (const Position& lane : position_.lanes) next.push_back(static_cast<std::int64_t>(lane.sequence));
    lanes_ = KafkaLanes{layout, next};
    YK_ASK(first, client_->offsets(layout, KafkaClient::End::First));
    for (std::size_t lane = 0; lane < next.size(); ++lane)
        if (next[lane] < first[lane])
            return gap(RelistReason::Purged, "messages were removed from the topics before they were read");
    YK_TRY(ends, ends_by_lane());
    YK_CHECKED(check_ends(ends));
    looked_ = refreshed_ = SteadyClock::now();
    return assign(); // what is removed from now on, the broker says itself when it is asked for it
}

/// A topic that ends before what was read of it is another one of that name (rs R-053). `ends`: by lane.
Result<void, LogFault> KafkaChangeLog::check_ends(const std::vector<std::int64_t>& ends) {
    for (const KafkaLane& lane : lanes_.all())
        if (const auto number = lanes_.number_of(lane); number < ends.size() && lane.next > ends[number])
            return gap(RelistReason::Epoch, client_->topic_name(lane.topic) + " was made anew");
    return {};
}

/// `is_drained`: nothing that was brought is still to be looked at. A lane that stands still although there is more of
/// it is not fetched any more, by a refusal that was answered once or by none: it is assigned anew. What was fetched of
/// the others and not taken comes again.
Result<void, LogFault> KafkaChangeLog::look(bool is_drained) {
    YK_TRY(ends, ends_by_lane());
    YK_CHECKED(check_ends(ends));
    looked_ = SteadyClock::now();
    if (!is_drained || !lanes_.note_stalls(ends)) return {};
    return assign();
}

/// The client counts partitions topic by topic, and lanes that came later are behind all others.
Result<std::vector<std::int64_t>, LogFault> KafkaChangeLog::ends_by_lane() {
    YK_ASK(ends, client_->offsets(layout_, KafkaClient::End::Last));
    std::vector<std::int64_t> sorted(lanes_.all().size(), 0);
    std::size_t place = 0;
    for (std::size_t topic = 0; topic < layout_.counts.size(); ++topic)
        for (std::size_t part = 0; part < layout_.counts[topic]; ++part, ++place)
            if (const KafkaLane* const lane = lanes_.find(topic, part)) sorted[lanes_.number_of(*lane)] = ends[place];
    return sorted;
}

Result<void, LogFault> KafkaChangeLog::assign() {
    rd_kafka_topic_partition_list_t* const list =
        rd_kafka_topic_partition_list_new(static_cast<int>(lanes_.all().size()));
    for (const KafkaLane& lane : lanes_.all())
        rd_kafka_topic_partition_list_add(list, client_->topic_name(lane.topic).c_str(),
                                          static_cast<std::int32_t>(lane.part))
            ->offset = lane.next;
    const auto code = rd_kafka_assign(client_->handle(), list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return down(Error::of(std::string{"kafka does not let itself be read: "} + rd_kafka_err2str(code)));
    return {};
}

// --- events ----------------------------------------------------------------------------------------------------------

/// What was read before the broker failed is given first: it does not come again.
Result<EventBatch, LogFault> KafkaChangeLog::poll(std::size_t most) {
    if (late_fault_) return *std::exchange(late_fault_, std::nullopt);
    EventBatch batch;
    client_->begin_call();
    auto filled = fill(batch, most);
    batch.position = position_;
    const bool is_empty = batch.events.empty() && batch.unreadable.empty();
    if (!filled.ok() && (is_empty || filled.error().what == LogFault::What::Gap)) return std::move(filled).error();
    if (!filled.ok()) late_fault_ = std::move(filled).error();
    return batch;
}

/// A broker that is away sends nothing, like one that has nothing: it is asked now and then, and each time after
/// librdkafka has said that none can be reached. The numbers of partitions are asked for first: a partition that is
/// gone has no end, so that the look would fail for ever and the epoch never be seen to be another one (rs R-053).
Result<void, LogFault> KafkaChangeLog::fill(EventBatch& batch, std::size_t most) {
    std::size_t count = 0;
    for (; count < most; ++count) {
        const Message message{rd_kafka_consumer_poll(client_->handle(), 0)};
        if (!message) break;
        YK_CHECKED(take(*message, batch));
    }
    batch.may_have_more = count == most;
    const auto now = SteadyClock::now();
    if (now - refreshed_ >= settings_.refresh) {
        refreshed_ = now;
        YK_CHECKED(look_for_partitions(batch));
    }
    if (client_->is_away() || now - looked_ >= settings_.look) YK_CHECKED(look(!batch.may_have_more));
    return say_what_stands_still();
}

/// A lane that was assigned anew and still stands counts as an outage, so that something else is read in its place.
Result<void, LogFault> KafkaChangeLog::say_what_stands_still() {
    for (const KafkaLane& lane : lanes_.all())
        if (lane.stalls >= kStandsStill)
            return down(Error::at("kafka " + client_->topic_name(lane.topic),
                                  "partition " + std::to_string(lane.part) + " gives none of its messages" +
                                      (refusal_.empty() ? "" : "; the last refusal: " + refusal_)));
    return {};
}

Result<void, LogFault> KafkaChangeLog::take(const rd_kafka_message_t& message, EventBatch& batch) {
    const std::string_view name = message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt);
    KafkaLane* const lane = lanes_.find(client_->find_topic(name), static_cast<std::size_t>(message.partition));
    switch (message.err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        return lane == nullptr ? Result<void, LogFault>{} : take_event(message, *lane, batch);
    case RD_KAFKA_RESP_ERR__PARTITION_EOF: // also behind holes that transactions and compaction leave
        if (lane != nullptr && message.offset > lane->next) {
            lane->next = message.offset;
            passed(*lane);
        }
        return {};
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        if (lane == nullptr || message.offset < lane->next) return {}; // of what was assigned before
        return gap(RelistReason::Purged, "messages were removed from " + std::string{name} + " before they were read");
    default:
        refusal_ = rd_kafka_message_errstr(&message);
        return down(Error::at("kafka " + std::string{name}, refusal_));
    }
}

Result<void, LogFault> KafkaChangeLog::take_event(const rd_kafka_message_t& message, KafkaLane& lane,
                                                  EventBatch& batch) {
    lane.next = message.offset + 1;
    passed(lane);
    BrokerMessage raw{view(message.key, message.key_len), std::nullopt, header(message, kEpochHeader),
                      header(message, kPositionHeader), header(message, kPreviousHeader)};
    if (message.payload != nullptr) raw.value = view(message.payload, message.len);
    return take_message(settings_.topics[lane.topic].kind, lanes_.number_of(lane), raw, relay_, batch);
}

void KafkaChangeLog::passed(KafkaLane& lane) {
    lane.stalls = 0;
    const std::size_t number = lanes_.number_of(lane);
    if (number < position_.lanes.size()) position_.lanes[number] = position_of(lane.next);
}

/// The new partitions are read from their beginning; the others go on where they are.
Result<void, LogFault> KafkaChangeLog::look_for_partitions(EventBatch& batch) {
    YK_ASK(now, client_->layout());
    std::vector<std::size_t> grown;
    if (lanes_.grow(now, grown) == KafkaLanes::Change::Shrunk)
        return gap(RelistReason::Epoch, "a topic has fewer partitions than before");
    if (grown.empty()) return {};
    layout_ = now;
    for (const std::size_t topic : grown)
        batch.events.push_back(
            {settings_.topics[topic].kind, kEveryId, Op::Relist, {}, 0, lanes_.all().size(), {}, {}});
    return assign();
}

} // namespace yk::rs
