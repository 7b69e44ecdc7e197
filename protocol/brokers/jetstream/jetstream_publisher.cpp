// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/jetstream/jetstream_publisher.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <nats/nats.h>

#include "libcore/base/number.h"
#include "protocol/brokers/broker_message.h"
#include "protocol/brokers/jetstream/event_subject.h"
#include "protocol/brokers/jetstream/publish_reply.h"

namespace yk::rs {
namespace {

constexpr int kTailLooks = 16; // messages at the end of a stream, for one of a relay

std::optional<std::string_view> header(natsMsg* message, const char* name) {
    const char* value = nullptr;
    if (natsMsgHeader_Get(message, name, &value) != NATS_OK || value == nullptr) return std::nullopt;
    return value;
}

BrokerFault down(const Error& error) {
    return {BrokerFault::What::Down, error.text()};
}

/// What is written twice has the same name. Several relists may be announced at one position.
std::string id_of(const RelayedMessage& message, std::string_view topic) {
    std::string id = message.event.at.text() + '@' + message.epoch;
    if (message.event.op == Op::Relist) id += '/' + std::string{topic};
    return id;
}

} // namespace

// --- the beginning ---------------------------------------------------------------------------------------------------

Result<void, BrokerFault> JetStreamPublisher::begin() {
    under_way_.clear();
    open_ = 0;
    is_probing_ = true;
    answers_.forget();
    if (!connection_) {
        auto made = NatsConnection::open(settings_);
        if (!made.ok()) return down(made.error());
        connection_ = std::move(made).value();
    }
    const auto stream = connection_->stream();
    if (!stream.ok()) return down(stream.error());
    identity_ = "nats " + settings_.prefix + ' ' + std::to_string(stream->created);
    last_ = stream->last;
    reconnects_ = stream->reconnects;
    YK_CHECKED(read_tail(*stream));
    return listen();
}

/// Others may have written behind it, and messages may be gone by hand or by the operator's limits: only a few are
/// looked at.
Result<void, BrokerFault> JetStreamPublisher::read_tail(const StreamState& stream) {
    was_empty_ = stream.last == 0;
    tail_.reset();
    std::uint64_t at = stream.last;
    for (int looks = 0; looks < kTailLooks && at > 0 && at >= stream.first; ++looks, --at) {
        auto message = connection_->message(at);
        if (!message.ok()) return down(message.error());
        if (*message == nullptr) continue;
        const auto epoch = header((*message).get(), kEpochHeader);
        const auto position = header((*message).get(), kPositionHeader);
        const auto parsed = position ? Position::parse(*position) : std::nullopt;
        if (!epoch || !parsed) continue;
        tail_ = Tail{std::string{*epoch}, *parsed, topic_of_relist((*message).get())};
        return {};
    }
    return {};
}

std::string JetStreamPublisher::topic_of_relist(natsMsg* message) const {
    const auto parts = split_subject(natsMsg_GetSubject(message), settings_.prefix);
    const bool is_relist = parts && parts->id == percent_encoded(kEveryId);
    return is_relist ? std::string{parts->kind} : std::string{};
}

/// The lane is the whole stream. All kinds are announced at one position, in the order of the topics: of several
/// announcements the last ones may be gone.
bool JetStreamPublisher::still_has(const LaneName& /*lane*/, const std::string& epoch, const Position& last) const {
    if (was_empty_) return false;
    if (!tail_) return true;
    const bool is_cut_off = tail_->at == last && !tail_->topic.empty() && tail_->topic != settings_.topics.back().name;
    return tail_->epoch == epoch && tail_->at >= last && !is_cut_off;
}

/// A new inbox, so that no acknowledgement of what was given up comes any more.
Result<void, BrokerFault> JetStreamPublisher::listen() {
    acknowledgements_.reset();
    natsInbox* inbox = nullptr;
    natsStatus status = natsInbox_Create(&inbox);
    if (status != NATS_OK) return down(connection_->failed("listen to acknowledgements", status));
    inbox_ = inbox;
    natsInbox_Destroy(inbox);
    natsSubscription* made = nullptr;
    status = natsConnection_SubscribeSync(&made, connection_->handle(), (inbox_ + ".*").c_str());
    if (status != NATS_OK) return down(connection_->failed("listen to acknowledgements", status));
    acknowledgements_.reset(made);
    return {};
}

bool JetStreamPublisher::is_lost() const {
    return !connection_->is_up() || connection_->reconnects() != reconnects_;
}

Error JetStreamPublisher::lost() const {
    return connection_->is_up() ? Error::at(connection_->place(), "the connection was lost")
                                : connection_->no_connection();
}

std::string_view JetStreamPublisher::topic_of(Kind kind) const {
    for (const Topic& topic : settings_.topics)
        if (topic.kind == kind) return topic.name;
    return {};
}

// --- messages --------------------------------------------------------------------------------------------------------

Result<NatsMessage, BrokerFault> JetStreamPublisher::make_message(const RelayedMessage& message) {
    const std::string_view topic = topic_of(message.event.kind);
    const std::string subject = settings_.prefix + '.' + std::string{topic} + '.' + percent_encoded(message.event.id);
    const std::string value = message_value(message.event);
    const std::string reply = inbox_ + '.' + std::to_string(message.number);
    natsMsg* raw = nullptr;
    natsStatus status =
        natsMsg_Create(&raw, subject.c_str(), reply.c_str(), value.data(), static_cast<int>(value.size()));
    NatsMessage made{raw};
    const auto add = [&](const char* name, const std::string& text) {
        if (status == NATS_OK) status = natsMsgHeader_Set(raw, name, text.c_str());
    };
    add(kEpochHeader, message.epoch);
    add(kPositionHeader, message.event.at.text());
    add(kPreviousHeader, message.previous.text());
    std::string id = id_of(message, topic);
    add("Nats-Msg-Id", id);
    add("Nats-Expected-Last-Sequence", std::to_string(last_));
    if (!is_probing_) add("Nats-Expected-Last-Msg-Id", last_id_);
    if (status != NATS_OK) return down(connection_->failed("make a message", status));
    last_id_ = std::move(id);
    return made;
}

Result<bool, BrokerFault> JetStreamPublisher::send(const RelayedMessage& message) {
    if (auto late = answers_.take_fault()) return *std::move(late); // nothing is sent behind a refusal
    if (is_lost()) return down(lost());
    if (open_ >= (is_probing_ ? 1 : settings_.window)) return false;
    YK_TRY(made, make_message(message));
    const natsStatus status = natsConnection_PublishMsg(connection_->handle(), made.get());
    if (status != NATS_OK) return down(connection_->failed("send a message", status));
    under_way_.push_back({message.number, SteadyClock::now(), false});
    ++open_;
    ++last_;
    return true;
}

/// What was under way when the connection was lost is not known to have arrived.
Result<std::vector<BrokerPublisher::Number>, BrokerFault> JetStreamPublisher::take_acknowledged() {
    if (auto late = answers_.take_fault()) return *std::move(late);
    std::vector<Number> safe;
    auto taken = take_replies(safe);
    while (!under_way_.empty() && under_way_.front().is_over) under_way_.pop_front();
    if (taken.ok()) taken = check_under_way();
    return answers_.answer(std::move(safe), taken.ok() ? std::nullopt : std::optional{std::move(taken).error()});
}

Result<void, BrokerFault> JetStreamPublisher::take_replies(std::vector<Number>& safe) {
    for (;;) {
        natsMsg* raw = nullptr;
        const natsStatus status = natsSubscription_NextMsg(&raw, acknowledgements_.get(), 0);
        const NatsMessage reply{raw};
        if (status == NATS_TIMEOUT) return {};
        if (status != NATS_OK) return down(connection_->failed("write to the stream " + settings_.prefix, status));
        YK_CHECKED(take(*reply, safe));
    }
}

Result<void, BrokerFault> JetStreamPublisher::check_under_way() const {
    if (under_way_.empty()) return {};
    if (is_lost()) return down(lost());
    if (SteadyClock::now() - under_way_.front().sent >= settings_.acknowledged)
        return down(Error::at(connection_->place(), "a message is not acknowledged"));
    return {};
}

Result<void, BrokerFault> JetStreamPublisher::take(natsMsg& reply, std::vector<Number>& safe) {
    const std::string_view subject = natsMsg_GetSubject(&reply);
    const auto number = to_number<Number>(subject.substr(std::min(inbox_.size() + 1, subject.size())));
    if (!number) return {};
    const auto found = std::lower_bound(under_way_.begin(), under_way_.end(), *number,
                                        [](const UnderWay& each, Number wanted) { return each.number < wanted; });
    if (found == under_way_.end() || found->number != *number || found->is_over) return {};
    const auto answer = read_publish_reply(
        {natsMsg_GetData(&reply), static_cast<std::size_t>(std::max(natsMsg_GetDataLength(&reply), 0))});
    if (!answer.fault.empty())
        return BrokerFault{answer.is_overtaken ? BrokerFault::What::Overtaken : BrokerFault::What::Down,
                           connection_->place() + ": the stream " + settings_.prefix +
                               " refuses a message: " + answer.fault};
    found->is_over = true;
    --open_;
    if (answer.is_duplicate)
        --last_;
    else
        is_probing_ = false;
    safe.push_back(*number);
    return {};
}

} // namespace yk::rs
