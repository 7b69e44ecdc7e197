// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "protocol/rm/answers.h"
#include "protocol/rm/loss.h"
#include "protocol/si/errors.h"
#include "protocol/si/tool_requests.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

using wire::CallError;

constexpr rs::BackoffRange kRegister{std::chrono::milliseconds{100}, std::chrono::seconds{5}};

/// Whether the registration has gone, and not just this one message.
bool is_loss(const CallError& error) {
    constexpr std::array kOfSession{si::ErrorCode::Superseded, si::ErrorCode::Auth, si::ErrorCode::SeqGap,
                                    si::ErrorCode::SeqOld, si::ErrorCode::SeqConflict};
    const bool is_same_session = false; // what the session may not do is as lost as what the RM may not
    return error.kind == CallError::Kind::Malformed || rm::loss_of(error, is_same_session) == rm::Loss::Registration ||
           std::any_of(kOfSession.begin(), kOfSession.end(), [&](const auto code) { return is(error, code); });
}

} // namespace

std::string_view text(CoreLink::State state) noexcept {
    constexpr std::array<std::string_view, 4> kTexts{"stopped", "registering", "registered", "unregistering"};
    return kTexts[static_cast<std::size_t>(state)];
}

CoreLink::CoreLink(Parts parts, mcs::CoreRequests& requests, Listener listener)
    : rm_id_(std::move(parts.rm_id)),
      requests_(requests),
      gate_(parts.gate),
      listener_(std::move(listener)),
      chance_(parts.seed),
      session_({parts.give, parts.post}, chance_.next()),
      listing_({std::move(parts.give), std::move(parts.post)}, rm_id_, chance_.next(),
               [this](const mcs::ApplicationsListed& list, Instant now) { report(list, now); }),
      answers_(parts.gate) {}

CoreSession::Done CoreLink::in_this_life(CoreSession::Done call) const {
    return [this, life = life_, call = std::move(call)](const Answer& answer, Instant now) {
        if (life == life_) call(answer, now);
    };
}

bool CoreLink::turn(Instant now) {
    if (state_ == State::Registered && requests_.take_list_wish()) listing_.begin();
    const bool has_listed = listing_.turn(now);
    const bool did = session_.turn(now) || has_listed;
    if (!advance(now)) return did;
    session_.turn(now);
    return true;
}

std::optional<Instant> CoreLink::next_due() const {
    auto next = session_.next_due();
    if (const auto listed = listing_.next_due()) next = next ? std::min(*next, *listed) : *listed;
    if (state_ == State::Registered || session_.is_changing() || is_stopped()) return next;
    if (state_ != State::Registering || !wants_) return Instant{};
    return next ? std::min(*next, try_at_) : try_at_;
}

/// Begins what the state allows. Returns whether there was anything.
bool CoreLink::advance(Instant now) {
    switch (state_) {
    case State::Stopped:
        if (wants_) state_ = State::Registering;
        return wants_;
    case State::Registering:
        if (!wants_) return give_up();
        if (session_.is_changing() || now < try_at_) return false;
        enroll();
        return true;
    case State::Registered: {
        const bool polls = !session_.is_asking();
        if (polls) poll();
        return update() || polls;
    }
    case State::Unregistering: return unregister();
    }
    return false;
}

// --- the registration ------------------------------------------------------------------------------------------------

/// Whatever the daemon has under the id is somebody else's, unless it says that it is what was lost here.
void CoreLink::enroll() {
    const bool recovers = listener_.recovers() || must_recover_;
    si::RegisterResourceManagerRequest request;
    request.rm_id = rm_id_;
    request.capabilities = {"reportIgnored"};
    request.if_registered = drops_ ? "drop" : "refuse";
    if (recovers) request.recovery.emplace().id = fmt::format("{}-{}", rm_id_, ++recovery_);
    session_.change(request,
                    [this, recovers](const Answer& answer, Instant now) { on_enrolled(answer, recovers, now); });
}

void CoreLink::on_enrolled(const Answer& answer, bool recovers, Instant now) {
    const auto reply = rm::decoded<si::RegisterResourceManagerResponse>("RegisterResourceManager", answer);
    if (!reply.ok()) return refused(reply.error(), now);
    log("mcs").info("RM {} is registered{}", rm_id_, recovers ? ", and recovers" : "");
    refusal_.clear();
    must_recover_ = drops_ = false;
    state_ = wants_ ? State::Registered : State::Unregistering;
    core_ = reply->core_state;
    epoch_ = reply->stream_epoch;
    handled_ = 0;
    is_recovering_ = recovers;
    if (wants_) listener_.registered(recovers, now);
}

void CoreLink::refused(const CallError& why, Instant now) {
    try_at_ = now;
    if (is(why, si::ErrorCode::RecoveryRequired) && !std::exchange(must_recover_, true)) return;
    const bool is_own = epoch_ != 0 && rm::number_of(why.details, "streamEpoch") == epoch_;
    if (is(why, si::ErrorCode::BusyState) && is_own && !rm::flag_of(why.details, "served") &&
        !std::exchange(drops_, true))
        return;
    drops_ = false;
    try_at_ = now + rs::backoff(kRegister, failures_++, chance_);
    const std::string text = text_of(why);
    if (text != refusal_) log("mcs").error("RM {} cannot be registered: {}; it is tried again", rm_id_, text);
    refusal_ = text;
}

void CoreLink::lose(const std::string& why, Instant now) {
    log("mcs").warn("RM {} has lost its registration: {}", rm_id_, why);
    forget();
    state_ = State::Registering;
    refusal_ = why;
    try_at_ = now + rs::backoff(kRegister, failures_++, chance_);
    listener_.lost(why, now);
}

/// What was asked for and answered counts no longer.
void CoreLink::forget() {
    ++life_;
    session_.forget();
    listing_.end();
    split_.clear();
    answers_.clear();
    requests_.clear();
    if (gate_ != nullptr) gate_->forget();
    recovery_answer_.reset();
    is_recovering_ = false;
    core_ = si::CoreState::New;
}

void CoreLink::stop() {
    if (!std::exchange(wants_, false)) return;
    if (state_ != State::Registered) return requests_.clear();
    forget();
    state_ = State::Unregistering;
}

/// A registration that was sent is waited for: else nobody would unregister.
bool CoreLink::give_up() {
    session_.withdraw();
    if (session_.is_changing() && !session_.is_daemon_stopping()) return false;
    rest();
    return true;
}

/// A daemon that is stopping takes no changes any more, and all it has of the RM ends with it.
bool CoreLink::unregister() {
    const bool is_over = session_.is_daemon_stopping();
    if (is_over) rest();
    if (is_over || session_.is_changing()) return is_over;
    si::UnregisterResourceManagerRequest request;
    request.rm_id = rm_id_;
    request.force = true;
    session_.change(request, [this](const Answer& answer, Instant /*now*/) {
        const bool is_there = !answer.ok() && !is(answer.error(), si::ErrorCode::RmUnknown);
        if (is_there) log("mcs").warn("RM {} is not unregistered: {}", rm_id_, text_of(answer.error()));
        const std::uint64_t epoch = epoch_;
        rest();
        if (is_there) epoch_ = epoch; // by which the next registration knows it as its own
    });
    return true;
}

void CoreLink::rest() {
    session_.end();
    listing_.end();
    state_ = State::Stopped;
    core_ = si::CoreState::New;
    refusal_.clear();
    try_at_ = {};
    failures_ = 0;
    epoch_ = 0;
}

// --- to the core -----------------------------------------------------------------------------------------------------

/// Sends the next message, if none is under way.
bool CoreLink::update() {
    if (session_.is_changing()) return false;
    if (answers_.has_confirmations()) {
        confirm();
        return true;
    }
    if (split_.empty()) split_next();
    if (split_.empty()) return false;
    CoreBatch batch = std::move(split_.front());
    split_.pop_front();
    answers_.expect(batch);
    auto message = message_of(batch, {rm_id_, fmt::format("{}-{}", rm_id_, recovery_), is_recovering_});
    session_.change(std::move(message),
                    in_this_life([this, batch = std::move(batch)](const Answer& answer, Instant now) mutable {
                        on_updated(std::move(batch), answer, now);
                    }));
    return true;
}

/// What the gate holds comes into the queue again when the commands have ended that it is about.
void CoreLink::split_next() {
    while (split_.empty() && !requests_.is_empty()) {
        CoreBatch batch = take_batch(requests_);
        if (gate_ != nullptr) std::erase_if(batch, [this](const mcs::CoreRequest& each) { return gate_->holds(each); });
        if (!batch.empty()) split_.push_back(std::move(batch));
    }
}

/// One element that the daemon does not accept, as a text that is too long, has the whole message refused: it is looked
/// for by halves, so that the others get on.
void CoreLink::on_updated(CoreBatch batch, const Answer& answer, Instant now) {
    if (answer.ok()) return;
    if (is_loss(answer.error())) return lose(text_of(answer.error()), now);
    if (batch.size() > 1) {
        const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
        split_.emplace_front(std::make_move_iterator(middle), std::make_move_iterator(batch.end()));
        batch.erase(middle, batch.end());
        return split_.push_front(std::move(batch));
    }
    log("mcs").error("the core does not take a request of RM {}: {}", rm_id_, text_of(answer.error()));
    for (const mcs::CoreNotice& notice : refusals_of(batch, text_of(answer.error()))) report(notice, now);
}

void CoreLink::confirm() {
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    request.releases.allocations_to_release = answers_.take_confirmations();
    session_.change(request, in_this_life([this](const Answer& answer, Instant now) {
                        if (answer.ok()) return;
                        if (is_loss(answer.error())) return lose(text_of(answer.error()), now);
                        log("mcs").error("the core does not take what RM {} confirms: {}", rm_id_,
                                         text_of(answer.error()));
                    }));
}

// --- from the core ---------------------------------------------------------------------------------------------------

void CoreLink::poll() {
    si::PollRequest request;
    request.rm_id = rm_id_;
    request.stream_epoch = epoch_;
    request.ack = handled_;
    session_.ask(request, in_this_life([this](const Answer& answer, Instant now) { on_polled(answer, now); }));
}

void CoreLink::on_polled(const Answer& answer, Instant now) {
    const auto reply = rm::decoded<si::PollReply>("Poll", answer);
    if (!reply.ok()) return lose(text_of(reply.error()), now); // all that a poll is refused for says so
    failures_ = 0;
    for (const std::uint64_t life = life_; const si::StreamItem& item : reply->items)
        if (life == life_ && item.n > handled_) take(item, now);
}

void CoreLink::take(const si::StreamItem& item, Instant now) {
    handled_ = item.n;
    if (item.kind == si::item::kNotice) return take_notice(item, now);
    const auto notices = answers_.read(item);
    for (const std::uint64_t life = life_; const mcs::CoreNotice& notice : notices)
        if (life == life_) report(notice, now);
}

void CoreLink::take_notice(const si::StreamItem& item, Instant now) {
    const wire::Value notice = rm::body_of(item);
    const wire::Value& details = rm::member_of(notice, "details");
    const std::string code = rm::text_of(notice, "code");
    if (code == "STATE")
        follow(rm::core_state_of(details, "old"), rm::core_state_of(details, "new"), rm::text_of(details, "reason"),
               now);
    if (code == "PARTITIONS") lose("a partition was removed, with the nodes that were in it", now);
}

/// What recovers anew has to be reported anew, as after a registration.
void CoreLink::follow(si::CoreState from, si::CoreState to, const std::string& why, Instant now) {
    using si::CoreState;
    const bool begins_anew = from == CoreState::Failed && to == CoreState::Recovering;
    if (begins_anew || to == CoreState::New || to == CoreState::Lost)
        return lose(fmt::format("{}: {}", si::text(to), why), now);
    core_ = to;
    if (from != CoreState::Failed || to != CoreState::Running || !is_recovering_) return;
    mcs::RecoveryAnswered accepted = recovery_answer_.value_or(mcs::RecoveryAnswered{});
    accepted.result = mcs::RecoveryAnswered::Result::Running;
    accepted.reason = why;
    report(accepted, now);
}

void CoreLink::report(const mcs::CoreNotice& notice, Instant now) {
    if (const auto* answered = std::get_if<mcs::RecoveryAnswered>(&notice)) {
        is_recovering_ = answered->result != mcs::RecoveryAnswered::Result::Running;
        recovery_answer_ = *answered;
    }
    listener_.notice(notice, now);
}

} // namespace yk::service
