// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/rm_client.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "protocol/rm/answers.h"
#include "protocol/rm/loss.h"
#include "protocol/si/errors.h"
#include "protocol/si/request_item.h"
#include "protocol/si/tool_requests.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"

namespace yk::rm {
namespace {

using std::chrono::milliseconds;
using wire::CallError;
using wire::CallResult;

constexpr milliseconds kFirstBackOff{50}, kLongestBackOff{5000}; // between two dials
constexpr milliseconds kBusyWait{100};
constexpr milliseconds kGoing{5000};   // in which a daemon under load notices that a process has ended
constexpr milliseconds kLookAgain{50}; // meanwhile
constexpr std::uint32_t kPollItems = 1000;
constexpr std::uint32_t kMostPollItems = 1'000'000;
constexpr std::uint32_t kPollBytes = 1U << 20U, kMostPollBytes = 15U << 20U; // the answer fits 16 MiB
constexpr std::uint32_t kListItems = 10'000;                                 // of a page
constexpr const char* kEcho = "echoRequests";                                // the capability that books need
constexpr const char* kRecovery = "books";                                   // the label of a recovery

/// In the session that has registered it an RM belongs to another one only if that has taken it over. Between two polls
/// the next one is refused so, and none is superseded.
CallError taken_over(CallError error) {
    if (!is(error, si::ErrorCode::Forbidden)) return error;
    error.code = static_cast<std::uint32_t>(si::ErrorCode::Superseded);
    error.name = si::name(si::ErrorCode::Superseded);
    return error;
}

} // namespace

std::string_view text(State state) noexcept {
    constexpr std::array<std::string_view, 5> kNames{"New", "Registered", "Recovering", "Running", "Failed"};
    return kNames[static_cast<std::size_t>(state)];
}

bool may_follow(State from, State to) noexcept {
    switch (from) {
    case State::New: return to == State::Registered || to == State::Failed;
    case State::Registered: return to != State::Registered;
    case State::Recovering: return to == State::Running || to == State::Failed || to == State::New;
    case State::Running: return to == State::Failed || to == State::New;
    case State::Failed: return to == State::Recovering || to == State::Running || to == State::New;
    }
    return false;
}

bool RmProgram::pause(milliseconds time) {
    std::this_thread::sleep_for(time);
    return true;
}

RmClient::Options RmClient::of_stream(std::string rm_id) {
    Options options;
    options.registration.rm_id = std::move(rm_id);
    options.patience = options.poll_patience = kOwnTimeout;
    return options;
}

RmClient::RmClient(DaemonLink& link, RmProgram& program, StreamBooks* books, Options options)
    : link_(link),
      program_(program),
      books_(books),
      options_(std::move(options)),
      poll_items_(kPollItems),
      back_off_(kFirstBackOff) {
    if (books_ != nullptr) at_ = books_->position();
}

// --- registration ---------------------------------------------------------------------------------------------------

CallResult<Registered> RmClient::begin() {
    auto done = enroll();
    if (!done.ok() && may_follow(state_, State::Failed)) set_state(State::Failed, done.error().message);
    return done;
}

void RmClient::begin(si::RegisterResourceManagerResponse reply) {
    static_cast<void>(take(std::move(reply)));
}

/// Waits a moment when the daemon has not yet noticed that the last process which served the RM has ended.
RmClient::Reply RmClient::ask_to_register(const si::RegisterResourceManagerRequest& request) {
    const auto until = std::chrono::steady_clock::now() + kGoing;
    while (true) {
        auto reply = decoded<si::RegisterResourceManagerResponse>(
            "RegisterResourceManager", link_.call(wire::EncodedRequest{request}, options_.patience));
        if (reply.ok() || !flag_of(reply.error().details, "served") || std::chrono::steady_clock::now() >= until ||
            !program_.pause(kLookAgain))
            return reply;
    }
}

/// Whether a registration was refused because the daemon has the very registration that this client had, or that its
/// books know, and nobody else serves it.
bool RmClient::is_ours(const CallError& refused) const {
    if (!is(refused, si::ErrorCode::BusyState) || flag_of(refused.details, "served")) return false;
    const std::uint64_t epoch = number_of(refused.details, "streamEpoch");
    return epoch != 0 && epoch == at_.epoch && link_.boot_id() == at_.boot_id;
}

si::RegisterResourceManagerRequest RmClient::registration() {
    auto request = options_.registration;
    if (!was_registered_) return request;
    request.if_registered = "resume";
    if (auto text = program_.configuration()) request.config = std::move(text);
    return request;
}

RmClient::Reply RmClient::register_without_books() {
    auto request = registration();
    auto reply = ask_to_register(request);
    if (reply.ok() || !was_registered_ || !is_ours(reply.error())) return reply;
    request.if_registered = "drop"; // it is lost: the daemon has no stream of it any more
    return ask_to_register(request);
}

RmClient::Reply RmClient::register_with_books() {
    auto request = registration();
    request.recovery.emplace().id = kRecovery;
    request.capabilities.emplace_back(kEcho);
    auto reply = ask_to_register(request);
    if (!reply.ok()) {
        if (!is_ours(reply.error())) return reply;
        request.if_registered = "drop"; // it is lost
        return ask_to_register(request);
    }
    if (!reply->kept || request.if_registered == "leave") return reply;
    const bool is_known = is_same_stream(*reply) && reply->last_ack.value_or(0) <= at_.number;
    const bool works = reply->core_state == si::CoreState::Running || reply->core_state == si::CoreState::Suspended;
    if (is_known && works) return reply;
    // A recovery that was interrupted begins anew. What others did to the RM without these books is not dropped.
    request.if_registered = is_known ? "drop" : "refuse";
    return ask_to_register(request);
}

bool RmClient::is_same_stream(const si::RegisterResourceManagerResponse& reply) const {
    return reply.stream_epoch == at_.epoch && link_.boot_id() == at_.boot_id;
}

CallResult<Registered> RmClient::enroll() {
    auto reply = books_ != nullptr ? register_with_books() : register_without_books();
    if (!reply.ok()) return std::move(reply).error();
    const auto& unknown = reply->ignored_capabilities;
    if (books_ != nullptr && std::find(unknown.begin(), unknown.end(), kEcho) != unknown.end())
        return failure(CallError::Kind::Malformed, "this ykd does not report to an RM what others do in its name "
                                                   "(echoRequests), so no books can be kept of it");
    return take(std::move(reply).value());
}

/// The RM is registered.
Registered RmClient::take(si::RegisterResourceManagerResponse reply) {
    Registered done{std::move(reply), was_registered_, std::exchange(why_, {})};
    is_registered_ = was_registered_ = true;
    is_gone_ = false;
    back_off_ = kFirstBackOff;
    session_ = link_.session_id();
    const std::uint64_t acknowledged = done.reply.kept ? done.reply.last_ack.value_or(0) : 0;
    const bool goes_on = done.reply.kept && is_same_stream(done.reply);
    at_ = {link_.boot_id(), done.reply.stream_epoch, goes_on ? std::max(at_.number, acknowledged) : acknowledged};
    is_to_report_ = is_replaying_ = books_ != nullptr && !done.reply.kept;
    corrects_ = false;
    attempt_ = 1;
    if (is_to_report_) {
        books_->begin(at_);
        why_ = done.why;
    }
    set_state(State::Registered, done.reply.kept ? "the daemon kept what the RM has" : "a new registration");
    follow(done.reply.core_state, "registered");
    program_.registered(done);
    return done;
}

// --- recovery -------------------------------------------------------------------------------------------------------

/// Reports what is in the books, as far as the core lacks it, and asks for the comparison.
CallResult<Went> RmClient::report() {
    YK_TRY(core, ask_state());
    is_to_report_ = core == si::CoreState::Recovering;
    if (!is_to_report_) {
        follow(core, "the recovery has ended");
        return Went::On;
    }
    if (!keep()) return Went::Stopped;
    auto replay = corrects_ ? differences() : everything();
    if (!replay.ok()) return std::move(replay).error();
    auto sent = send_all(replay->requests);
    if (!sent.ok() && loss_of(sent.error(), true) == Loss::Everything) {
        YK_TRY(now, ask_state()); // other rules hold when the recovery has ended meanwhile
        return now == si::CoreState::Recovering ? sent : Went::On;
    }
    if (!sent.ok() || *sent == Went::Stopped) return sent;
    claimed_ = replay->digests;
    replay->claim.id = kRecovery;
    replay->claim.attempt = attempt_;
    return take_report(link_.call(replay->claim, options_.patience));
}

CallResult<Replay> RmClient::everything() {
    auto replay = books_->replay();
    if (!replay.ok()) return malformed("the books", replay.error().message);
    program_.reports(replay->claim.expected, std::exchange(why_, {}));
    return std::move(replay).value();
}

/// Compares with what the core has: all of it, unless its report says where to look.
CallResult<Replay> RmClient::differences() {
    Correction correction{rm_id(), refused_ ? &*refused_ : nullptr, claimed_};
    for (const RecoveryKind kind : kRecoveryKinds)
        for (const auto& bucket : correction.buckets(kind)) YK_CHECKED(list(kind, bucket, correction));
    YK_CHECKED(list_quarantine(correction));
    auto replay = books_->replay(correction);
    if (!replay.ok()) return malformed("the books", replay.error().message);
    program_.corrects(correction.differences());
    return std::move(replay).value();
}

/// Reads what the core has of a kind, in one bucket or in all.
Result<void, CallError> RmClient::list(RecoveryKind kind, std::optional<std::uint32_t> bucket, Correction& correction) {
    si::RecoveryListRequest request;
    request.rm_id = rm_id();
    request.kind = name_of(kind);
    request.bucket = bucket;
    request.limit = kListItems;
    do {
        YK_TRY(page, decoded<si::RecoveryListReply>("RecoveryList", link_.call(request, options_.patience)));
        for (const si::RecoveryListItem& each : page.items) correction.add(kind, each);
        request.cursor = std::move(page.cursor);
    } while (!request.cursor.empty());
    return {};
}

/// Reads what the core has in quarantine: all of it, of which its report may have a part.
Result<void, CallError> RmClient::list_quarantine(Correction& correction) {
    si::DumpRequest request;
    request.what = "recovery";
    request.rm_id = rm_id();
    do {
        const auto answer = link_.call(request, options_.patience);
        if (!answer.ok()) return answer.error();
        const auto scanned = wire::scan_body(*answer);
        if (!scanned.ok()) return malformed("Dump", scanned.error().message);
        const wire::Value page = wire::decode_value(*scanned);
        for (const wire::Value& rm : member_of(page, "data"))
            for (const wire::Value& each : member_of(rm, "quarantine"))
                if (const auto kind = find_recovery_kind(text_of(each, "kind")))
                    correction.add_quarantined(*kind, {text_of(each, "partitionName"), text_of(each, "nodeID"),
                                                       text_of(each, "applicationID"), text_of(each, "allocationKey")});
        request.cursor = flag_of(page, "complete") ? std::string{} : text_of(page, "cursor");
    } while (!request.cursor.empty());
    return {};
}

/// Polls after each request, or the stream would fill with what the core answers.
CallResult<Went> RmClient::send_all(const std::vector<wire::EncodedRequest>& requests) {
    for (const wire::EncodedRequest& request : requests) {
        while (true) {
            const auto sent = link_.call(request, options_.patience);
            if (!sent.ok() && loss_of(sent.error(), true) != Loss::Nothing) return sent.error();
            YK_TRY(went, drain());
            if (went == Went::Stopped) return went;
            if (sent.ok()) break;
            if (!program_.pause(kBusyWait)) return Went::Stopped;
        }
    }
    return Went::On;
}

/// The state of the core, as the daemon says.
CallResult<si::CoreState> RmClient::ask_state() {
    const auto answer = link_.call(si::PingRequest{rm_id()}, options_.patience);
    if (!answer.ok()) return answer.error();
    const auto scanned = wire::scan_body(*answer);
    if (!scanned.ok()) return malformed("Ping", scanned.error().message);
    return core_state_of(wire::decode_value(*scanned), "state");
}

CallResult<Went> RmClient::take_report(const CallResult<std::string>& answer) {
    if (!answer.ok() && is(answer.error(), si::ErrorCode::BadState)) // has it ended? the next step asks for it
        return program_.pause(kBusyWait) ? Went::On : Went::Stopped;
    auto report = decoded<si::RecoveryReport>("RecoveryDone", answer);
    if (!report.ok()) return std::move(report).error();
    is_to_report_ = corrects_ = report->result == "retry";
    ++attempt_;
    if (report->result == "running") follow(si::CoreState::Running, "recovered");
    if (report->result == "failed") follow(si::CoreState::Failed, "the recovery failed");
    program_.recovered(*report);
    refused_ = std::move(report).value();
    return Went::On;
}

// --- the stream -----------------------------------------------------------------------------------------------------

CallResult<Went> RmClient::step(milliseconds wait) {
    auto done = CallResult<Went>{Went::On};
    if (!is_registered_) {
        const auto enrolled = enroll();
        if (!enrolled.ok()) done = enrolled.error();
    } else {
        done = is_to_report_ ? report() : poll(wait);
    }
    if (!done.ok()) return after(done.error());
    if (std::exchange(is_gone_, false)) program_.daemon_answers();
    back_off_ = kFirstBackOff;
    superseded_.reset();
    return done;
}

CallResult<Went> RmClient::poll(milliseconds wait) {
    si::PollRequest request;
    request.rm_id = rm_id();
    request.stream_epoch = at_.epoch;
    request.ack = at_.number;
    request.wait_ms = static_cast<std::uint32_t>(wait.count());
    request.max_items = poll_items_;
    request.max_bytes = poll_items_ > kPollItems ? kMostPollBytes : kPollBytes;
    auto reply = decoded<si::PollReply>("Poll", link_.call(request, options_.poll_patience));
    if (!reply.ok()) return std::move(reply).error();
    backlog_ = reply->backlog;
    return take(reply->items);
}

CallResult<Went> RmClient::drain() {
    do {
        YK_TRY(went, poll(milliseconds{0}));
        if (went == Went::Stopped) return went;
    } while (backlog_ != 0);
    return Went::On;
}

/// Takes items in groups that belong together. A group that is not whole comes again, with the next poll.
CallResult<Went> RmClient::take(std::span<const si::StreamItem> items) {
    while (!items.empty() && items.front().n <= at_.number) items = items.subspan(1); // handled already (I-365)
    Handled done = Handled::Done;
    std::uint64_t number = at_.number;
    const bool is_largest = poll_items_ == kMostPollItems;
    poll_items_ = kPollItems;
    while (!items.empty() && done == Handled::Done) {
        std::size_t size = group_at_front(items);
        if (size == 0 && number != at_.number) break;
        if (size == 0 && !is_largest) {
            poll_items_ = kMostPollItems;
            break;
        }
        if (size == 0) size = items.size(); // no poll has all of it: the rest is taken alone
        done = take_group(items.first(size));
        if (done != Handled::Again) number = items[size - 1].n;
        items = items.subspan(size);
    }
    if (books_ != nullptr && number != at_.number && !keep()) return Went::Stopped;
    at_.number = number;
    if (done == Handled::Again)
        return std::exchange(failed_, std::nullopt).value_or(failure(CallError::Kind::Malformed, "a request failed"));
    return done == Handled::Stop ? Went::Stopped : Went::On;
}

Handled RmClient::take_group(std::span<const si::StreamItem> group) {
    bool stops = false;
    for (const si::StreamItem& each : group) {
        const Handled done = program_.handle(each);
        if (done == Handled::Again) return done;
        stops = stops || done == Handled::Stop;
    }
    if (books_ != nullptr) books_->take(group, is_replaying_);
    for (const si::StreamItem& each : group) follow(each);
    return stops ? Handled::Stop : Handled::Done;
}

/// Waits until everything that was taken is in the file. False: the program wants to end.
bool RmClient::keep() {
    while (!books_->is_kept()) {
        const std::string fault = books_->fault();
        if (fault != books_fault_) program_.books_fault(books_fault_ = fault);
        static_cast<void>(link_.call(si::PingRequest{rm_id()}, options_.poll_patience)); // a sign of life (I-385)
        if (!program_.pause(kBusyWait)) return false;
    }
    if (!books_fault_.empty()) program_.books_fault(books_fault_ = std::string{});
    return true;
}

CallResult<std::string> RmClient::send(const wire::EncodedRequest& request) {
    auto answer = link_.call(request, options_.patience);
    if (!answer.ok()) failed_ = answer.error();
    return answer;
}

CallResult<Went> RmClient::end() {
    if (!is_registered_ || is_gone_) return Went::Stopped;
    si::PollRequest request;
    request.rm_id = rm_id();
    request.stream_epoch = at_.epoch;
    request.ack = at_.number;
    request.wait_ms = 0;
    request.max_items = 1;
    const auto answer = link_.call(request, options_.poll_patience);
    if (!answer.ok()) return answer.error();
    return Went::Stopped;
}

// --- states and losses ----------------------------------------------------------------------------------------------

/// Follows what the stream says of the state.
void RmClient::follow(const si::StreamItem& item) {
    if (item.kind != si::item::kRecoveryReport && item.kind != si::item::kNotice) return;
    const auto scanned = wire::scan_body(item.body.bytes);
    if (!scanned.ok()) return;
    if (item.kind == si::item::kRecoveryReport) {
        const auto report = wire::decode<si::RecoveryReport>(*scanned);
        if (!report.ok() || report->result == "retry") return;
        is_replaying_ = false;
        if (report->result == "failed") {
            is_to_report_ = false;
            follow(si::CoreState::Failed, "the recovery failed");
        }
        return;
    }
    const wire::Value notice = wire::decode_value(*scanned);
    const wire::Value& details = member_of(notice, "details");
    if (text_of(notice, "code") != "STATE") return;
    const si::CoreState from = core_state_of(details, "old"), to = core_state_of(details, "new");
    const std::string why = text_of(details, "reason");
    if (from == si::CoreState::Failed && to == si::CoreState::Recovering) { // somebody has it recover again
        follow(to, why);
        attempt_ = 1;
        is_to_report_ = is_replaying_ = corrects_ = books_ != nullptr;
        refused_.reset(); // much may have happened since
    } else if (from != si::CoreState::New && !is_to_report_) {
        follow(to, why);
    }
}

void RmClient::follow(si::CoreState core, const std::string& why) {
    switch (core) {
    case si::CoreState::Running:
    case si::CoreState::Suspended: return set_state(State::Running, why);
    case si::CoreState::Recovering: return set_state(State::Recovering, why);
    case si::CoreState::Failed: return set_state(State::Failed, why);
    case si::CoreState::New:
    case si::CoreState::Lost: return; // the next poll says so
    }
}

void RmClient::set_state(State state, const std::string& why) {
    if (state == state_) return;
    const State from = std::exchange(state_, state);
    ++times_[static_cast<std::size_t>(from)][static_cast<std::size_t>(state)];
    program_.state_changed(from, state, why);
}

std::vector<Transition> RmClient::transitions() const {
    std::vector<Transition> all;
    for (std::size_t from = 0; from < kStates; ++from)
        for (std::size_t to = 0; to < kStates; ++to)
            if (times_[from][to] != 0)
                all.push_back({static_cast<State>(from), static_cast<State>(to), times_[from][to]});
    return all;
}

void RmClient::lose_registration(const std::string& why) {
    is_registered_ = is_to_report_ = is_replaying_ = false;
    poll_items_ = kPollItems;
    if (why_.empty()) why_ = why;
    set_state(State::New, why);
}

/// What follows from a failure. An error: it is final.
CallResult<Went> RmClient::after(const CallError& error) {
    const bool is_same_session = !is_registered_ || link_.session_id() == session_;
    if (is(error, si::ErrorCode::Superseded) && !superseded_) { // by a poll of its own that came late?
        superseded_ = error;
        return program_.pause(kLookAgain) ? Went::On : Went::Stopped;
    }
    switch (loss_of(error, is_same_session)) {
    case Loss::Everything: return superseded_.value_or(is_registered_ ? taken_over(error) : error);
    case Loss::Nothing: {
        const auto asked = milliseconds{error.retry_after_ms};
        return program_.pause(std::clamp(asked, kBusyWait, kLongestBackOff)) ? Went::On : Went::Stopped;
    }
    case Loss::Registration:
        lose_registration(link_.boot_id() != at_.boot_id ? "ykd was restarted" : error.message);
        return Went::On;
    case Loss::Daemon: break;
    }
    if (!std::exchange(is_gone_, true)) program_.daemon_is_gone(error.message);
    const auto wait = back_off_;
    back_off_ = std::min(back_off_ * 2, kLongestBackOff);
    return program_.pause(wait) ? Went::On : Went::Stopped;
}

} // namespace yk::rm
