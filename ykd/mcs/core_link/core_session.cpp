// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "libcore/base/check.h"
#include "protocol/rm/answers.h"
#include "protocol/si/errors.h"
#include "protocol/wire/codec.h"

namespace yk::service {
namespace {

using wire::CallError;

constexpr rs::BackoffRange kRetry{std::chrono::milliseconds{50}, std::chrono::seconds{5}};

CallError dropped() {
    CallError error = rm::failure(CallError::Kind::OutcomeUnknown, "the daemon has dropped the request");
    error.retryable = true;
    return error;
}

} // namespace

std::string text_of(const CallError& error) {
    const std::string where = error.path.empty() ? std::string{} : error.path + ": ";
    return error.name.empty() ? error.message : fmt::format("{}: {}{}", error.name, where, error.message);
}

void CoreSession::change(wire::EncodedRequest request, Done done) {
    YK_CHECK(!is_changing(), "one change is under way at a time");
    change_.emplace(Pending{std::move(request), std::move(done)});
}

void CoreSession::ask(wire::EncodedRequest request, Done done) {
    YK_CHECK(!is_asking(), "one question is under way at a time");
    question_.emplace(Pending{std::move(request), std::move(done)});
}

void CoreSession::withdraw() {
    if (!change_ || change_->number != 0) return;
    is_seq_certain_ = is_seq_certain_ && change_->failures == 0; // perhaps it was dropped when it was carried out
    change_.reset();
}

void CoreSession::forget() {
    question_.reset();
    withdraw();
    if (change_) change_->done = {};
}

void CoreSession::end() {
    hello_.reset();
    change_.reset();
    question_.reset();
    if (!sid_) return;
    question_.emplace(Pending{wire::EncodedRequest{"Bye", wire::Value::object()}, {}});
    send(question_, false, Instant{});
    question_.reset();
    sid_.reset();
}

// --- to the daemon ---------------------------------------------------------------------------------------------------

bool CoreSession::turn(Instant now) {
    bool did = false;
    while (const auto reply = connection_.next()) {
        take(*reply, now);
        did = true;
    }
    return send_due(now) || did;
}

bool CoreSession::needs_hello() const {
    if (!change_ && !question_) return false;
    return !sid_ || (!is_seq_certain_ && change_ && change_->number == 0);
}

CoreSession::Pending CoreSession::hello() const {
    si::HelloRequest request;
    request.min = request.max = wire::kVersion;
    request.client = "mcs";
    request.role = si::text(si::Role::Admin);
    if (sid_) request.resume = si::HelloResume{{std::string{wire::bytes_of(*sid_)}}, {boot_id_}};
    return {wire::EncodedRequest{request}, {}};
}

bool CoreSession::send_due(Instant now) {
    if (needs_hello()) {
        if (!hello_) hello_.emplace(hello());
        return send(hello_, false, now);
    }
    const bool sent_change = send(change_, true, now);
    return send(question_, false, now) || sent_change;
}

bool CoreSession::send(Slot& slot, bool with_seq, Instant now) {
    if (!slot || slot->number != 0 || now < slot->due) return false;
    slot->number = ++last_number_;
    wire::RequestHeader header;
    header.kind = slot->request.kind;
    header.id = slot->number;
    if (&slot != &hello_) header.sid = sid_;
    if (with_seq) header.seq = next_seq_;
    wire::Buffer message;
    wire::encode_request(message, header, slot->request.body);
    connection_.send(slot->number, message.view());
    return true;
}

std::optional<Instant> CoreSession::next_due() const {
    const bool greets = needs_hello();
    if (greets && !hello_) return Instant{};
    std::optional<Instant> next;
    for (const Slot* slot : {&hello_, &change_, &question_}) {
        if (!*slot || (*slot)->number != 0 || (slot == &hello_) != greets) continue;
        next = next ? std::min(*next, (*slot)->due) : (*slot)->due;
    }
    return next;
}

std::string CoreSession::trouble() const {
    for (const Slot* slot : {&hello_, &change_, &question_})
        if (*slot && !(*slot)->trouble.empty()) return (*slot)->trouble;
    return {};
}

// --- from the daemon -------------------------------------------------------------------------------------------------

void CoreSession::take(const CoreConnection::Reply& reply, Instant now) {
    for (Slot* slot : {&hello_, &change_, &question_}) {
        if (!*slot || (*slot)->number != reply.number) continue;
        const Answer answer = reply.bytes ? wire::read_answer(*reply.bytes, (*slot)->request.kind) : Answer{dropped()};
        if (!answer.ok() && answer.error().retryable) return send_again(*slot, answer.error(), now);
        if (slot == &hello_) return take_hello(answer, now);
        if (!answer.ok() && is(answer.error(), si::ErrorCode::SessionUnknown)) return lose_session(answer.error(), now);
        return slot == &change_ ? take_change(answer, now) : take_answer(answer, now);
    }
}

/// The daemon has not carried it out, unless it dropped it: then the same number makes sure that it is carried out
/// once (I-331).
void CoreSession::send_again(Slot& slot, const CallError& why, Instant now) {
    is_daemon_stopping_ = is_daemon_stopping_ || is(why, si::ErrorCode::ShuttingDown);
    if (&slot == &change_ && !slot->done) { // nobody wants it any more
        is_seq_certain_ = is_seq_certain_ && why.kind == CallError::Kind::Refused;
        return slot.reset();
    }
    slot->number = 0;
    slot->trouble = text_of(why);
    const Duration asked = std::chrono::milliseconds{why.retry_after_ms};
    slot->due = now + std::max(asked, Duration{0}) + rs::backoff(kRetry, slot->failures++, chance_);
}

/// A Hello that is refused for good is the answer to what waits for it.
void CoreSession::take_hello(const Answer& answer, Instant now) {
    const auto reply = rm::decoded<si::HelloReply>("Hello", answer);
    const auto sid = reply.ok() ? wire::make_sid(reply->sid.bytes) : std::nullopt;
    hello_.reset();
    if (!sid) {
        const CallError why = reply.ok() ? rm::malformed("Hello", "sid: expected 16 bytes") : reply.error();
        return lose_session(why, now);
    }
    if (!reply->resumed)
        next_seq_ = 1;
    else if (!is_seq_certain_)
        next_seq_ = reply->last_seq + 1;
    is_seq_certain_ = true;
    sid_ = sid;
    boot_id_ = reply->boot_id.bytes;
}

void CoreSession::take_change(const Answer& answer, Instant now) {
    // Whether a refusal uses up its number depends on where it arose (I-333).
    if (answer.ok())
        ++next_seq_;
    else
        is_seq_certain_ = false;
    const Pending ended = *std::exchange(change_, std::nullopt);
    if (ended.done) ended.done(answer, now);
}

void CoreSession::take_answer(const Answer& answer, Instant now) {
    const Pending ended = *std::exchange(question_, std::nullopt);
    if (ended.done) ended.done(answer, now);
}

/// Nobody will answer what is under way in it.
void CoreSession::lose_session(const CallError& why, Instant now) {
    sid_.reset();
    const Answer lost{why};
    const Slot change = std::exchange(change_, std::nullopt), question = std::exchange(question_, std::nullopt);
    if (change && change->done) change->done(lost, now);
    if (question && question->done) question->done(lost, now);
}

} // namespace yk::service
