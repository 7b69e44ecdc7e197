// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/jetstream/jetstream_change_log.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <nats/nats.h>

#include "protocol/brokers/broker_message.h"
#include "protocol/brokers/jetstream/event_subject.h"
#include "protocol/brokers/log_answers.h"
#include "protocol/brokers/message_intake.h"

namespace yk::rs {
namespace {

constexpr std::int64_t kHeartbeat = 1'000'000'000; // ns; by which the library finds out that a consumer is gone

std::optional<std::string_view> header(natsMsg& message, const char* name) {
    const char* value = nullptr;
    if (natsMsgHeader_Get(&message, name, &value) != NATS_OK || value == nullptr) return std::nullopt;
    return value;
}

/// Where a message is in its stream, and since when. 0: it is of no stream.
struct Place {
    std::uint64_t sequence = 0;
    std::int64_t stored = 0;
};
Place place_of(natsMsg& message) {
    jsMsgMetaData* raw = nullptr;
    if (natsMsg_GetMetaData(&raw, &message) != NATS_OK) return {};
    const std::unique_ptr<jsMsgMetaData, void (*)(jsMsgMetaData*)> data{raw, jsMsgMetaData_Destroy};
    return {data->Sequence.Stream, data->Timestamp};
}

} // namespace

Result<std::unique_ptr<JetStreamChangeLog>> JetStreamChangeLog::make(const NatsSettings& settings) {
    YK_TRY(connection, NatsConnection::open(settings));
    return std::unique_ptr<JetStreamChangeLog>{new JetStreamChangeLog{settings, std::move(connection)}};
}

// --- positions -------------------------------------------------------------------------------------------------------

Result<Cursor, LogFault> JetStreamChangeLog::read_latest() {
    connection_->begin_call();
    YK_ASK(stream, connection_->stream());
    captured_ = stream;
    return Cursor{epoch_of(stream), {Position{0, stream.last}}};
}

std::string JetStreamChangeLog::epoch_of(const StreamState& stream) const {
    return "nats " + settings_.prefix + ' ' + std::to_string(stream.created) + ' ' + relay_.text();
}

/// Whether the stream goes on where this log is.
Result<void, LogFault> JetStreamChangeLog::check(const StreamState& stream) const {
    if (epoch_of(stream) != position_.epoch || stream.last < sequence())
        return gap(RelistReason::Epoch, "the stream " + settings_.prefix + " is another one than before");
    if (stream.first > sequence() + 1)
        return gap(RelistReason::Purged, "messages were removed from " + settings_.prefix + " before they were read");
    return {};
}

Result<void, LogFault> JetStreamChangeLog::open(const CapturedCursor& from) {
    if (from.cursor().lanes.size() != 1) return gap(RelistReason::Epoch, "the cursor is of another change log");
    position_ = from.cursor();
    stored_ = sequence() == captured_.last ? captured_.stored : 0;
    late_fault_.reset();
    connection_->begin_call();
    return subscribe();
}

/// Messages that are removed between the subscription and the look at the stream are found by the look, those that are
/// removed later by their sequences.
Result<void, LogFault> JetStreamChangeLog::subscribe() {
    subscription_.reset();
    YK_ASK(before, connection_->stream());
    reconnects_ = before.reconnects;
    YK_CHECKED(check(before));
    YK_CHECKED(check_last());
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = settings_.prefix.c_str();
    options.Ordered = true;
    options.Config.DeliverPolicy = js_DeliverByStartSequence;
    options.Config.OptStartSeq = sequence() + 1;
    options.Config.Heartbeat = kHeartbeat;
    jsOptions limit;
    jsOptions_Init(&limit);
    limit.Wait = connection_->limit_ms();
    natsSubscription* made = nullptr;
    jsErrCode code{};
    const natsStatus status =
        js_SubscribeSync(&made, connection_->context(), (settings_.prefix + ".>").c_str(), &limit, &options, &code);
    subscription_.reset(made);
    if (status != NATS_OK) return down(connection_->failed("read the stream " + settings_.prefix, status));
    moved_ = SteadyClock::now();
    return look();
}

Result<void, LogFault> JetStreamChangeLog::look() {
    YK_ASK(stream, connection_->stream());
    looked_ = SteadyClock::now();
    if (stream.last == sequence()) moved_ = looked_;
    return check(stream);
}

/// Of a message that is not there any more nothing is known.
Result<void, LogFault> JetStreamChangeLog::check_last() const {
    if (stored_ == 0 || sequence() == 0) return {};
    YK_ASK(last, connection_->message(sequence()));
    if (last == nullptr || natsMsg_GetTime(last.get()) == stored_) return {};
    return gap(RelistReason::Epoch, "the stream " + settings_.prefix + " has lost messages that it had given");
}

// --- events ----------------------------------------------------------------------------------------------------------

/// What was read before the server failed is given first: it does not come again.
Result<EventBatch, LogFault> JetStreamChangeLog::poll(std::size_t most) {
    if (late_fault_) return *std::exchange(late_fault_, std::nullopt);
    EventBatch batch;
    connection_->begin_call();
    auto filled = fill(batch, most);
    batch.position = position_;
    const bool is_empty = batch.events.empty() && batch.unreadable.empty();
    if (!filled.ok() && (is_empty || filled.error().what == LogFault::What::Gap)) return std::move(filled).error();
    if (!filled.ok()) late_fault_ = std::move(filled).error();
    return batch;
}

Result<void, LogFault> JetStreamChangeLog::fill(EventBatch& batch, std::size_t most) {
    if (!subscription_ || connection_->reconnects() != reconnects_) YK_CHECKED(subscribe());
    const std::uint64_t begun = sequence();
    const std::int64_t stored = stored_;
    std::size_t count = 0;
    for (; count < most; ++count) {
        natsMsg* raw = nullptr;
        const natsStatus status = natsSubscription_NextMsg(&raw, subscription_.get(), 0);
        const NatsMessage message{raw};
        if (status == NATS_TIMEOUT) break;
        if (status != NATS_OK) return subscribe(); // it is of no use any more
        YK_CHECKED(take(*message, batch));
    }
    if (connection_->reconnects() != reconnects_) { // what came need not follow on what was read before
        batch = {};
        sequence() = begun;
        stored_ = stored;
        return {};
    }
    batch.may_have_more = count == most;
    const auto now = SteadyClock::now();
    if (count > 0) moved_ = now;
    if (!connection_->is_up()) return down(connection_->no_connection());
    if (now - looked_ >= settings_.look) YK_CHECKED(look());
    if (now - moved_ >= settings_.revive) return subscribe();
    return {};
}

/// A consumer that the library has made anew may give a message once more.
Result<void, LogFault> JetStreamChangeLog::take(natsMsg& message, EventBatch& batch) {
    const auto [at, stored] = place_of(message);
    if (at <= sequence()) return {};
    if (at != sequence() + 1)
        return gap(RelistReason::Purged, "messages were removed from " + settings_.prefix + " before they were read");
    sequence() = at;
    stored_ = stored;
    return take_event(message, batch);
}

Result<void, LogFault> JetStreamChangeLog::take_event(natsMsg& message, EventBatch& batch) {
    const auto parts = split_subject(natsMsg_GetSubject(&message), settings_.prefix);
    if (!parts) return {};
    const auto topic = std::find_if(settings_.topics.begin(), settings_.topics.end(),
                                    [&](const Topic& each) { return each.name == parts->kind; });
    const auto kind = topic == settings_.topics.end() ? std::nullopt : std::optional{topic->kind};
    const auto id = percent_decoded(parts->id);
    BrokerMessage raw{id ? std::string_view{*id} : std::string_view{}, std::nullopt, header(message, kEpochHeader),
                      header(message, kPositionHeader), header(message, kPreviousHeader)};
    if (natsMsg_GetDataLength(&message) > 0)
        raw.value =
            std::string_view{natsMsg_GetData(&message), static_cast<std::size_t>(natsMsg_GetDataLength(&message))};
    return take_message(kind, 0, raw, relay_, batch);
}

} // namespace yk::rs
