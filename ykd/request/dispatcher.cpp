// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/dispatcher.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "libcore/base/text.h"
#include "ykd/process/log.h"
#include "ykd/request/large_answers.h"

namespace yk::service {
namespace {

using wire::Peer;

constexpr std::size_t kShortMessage = 4096;        // bytes of a message that may be short work, as of some asks
constexpr auto kGapWait = std::chrono::seconds{1}; // how long a call waits for an earlier number (I-332)

using Table = SeqTable<CallPtr, RememberedReply>;

/// Answers a call that may not execute.
void answer_refused(const CallPtr& call, const Table::Decision& decision) {
    switch (decision.verdict) {
    case Table::Verdict::Replay: return call->replay(decision.reply);
    case Table::Verdict::Old:
        return call->fail(ErrorCode::SeqOld, "this sequence number was executed, and its answer is not kept any more");
    case Table::Verdict::Conflict:
        return call->fail(ErrorCode::SeqConflict, "this sequence number was used for another request");
    default: break;
    }
    wire::ErrorReply error{ErrorCode::SeqGap, "too many requests wait for an earlier sequence number", {}, {}, {}};
    error.details["expected"] = decision.expected;
    call->fail(error);
}

} // namespace

void Dispatcher::execute(const CallPtr& call) {
    try {
        parts_.kinds.at(call->kind).serve(call);
    } catch (const std::bad_alloc&) {
        fail_for_memory(*call);
    } catch (const std::exception& fault) { // a bug: no service lets one out
        call->fail_internal(fault.what());
    }
}

void Dispatcher::log_garbage(const std::string& address) {
    if (const auto suffix = parts_.line_limit.suffix(address))
        log("wire").warn("closing a connection of {} after ten undecodable messages{}", address, *suffix);
}

bool Dispatcher::decode(const CallPtr& call) {
    auto decoded = wire::decode_request(call->message());
    if (!decoded.ok()) {
        const bool garbage = decoded.error().error.code == ErrorCode::Decode;
        const bool cut = garbage && parts_.connections.count_garbage(call->peer());
        if (cut) log_garbage(call->peer().address);
        call->fail_undecoded(decoded.error(), cut);
        return false;
    }
    call->envelope = *decoded;
    if (call->envelope.v == wire::kVersion) return true;
    wire::ErrorReply error{ErrorCode::Version, "this daemon speaks version 1", {}, {}, {}};
    error.details = {{"min", wire::kVersion}, {"max", wire::kVersion}};
    call->fail(error);
    return false;
}

/// Whether the caller is the identity that opened the session: nobody else may use it (I-323).
bool Dispatcher::is_same_identity(const Call& call, const Session& session) {
    if (call.peer().transport == Peer::Transport::Ipc) return session.grant.name == call.peer().address;
    return parts_.connections.claim_identity(call.peer(), session.grant.name);
}

bool Dispatcher::find_session(const CallPtr& call) {
    if (call->envelope.kind == si::info(si::Kind::Hello).name) return true;
    call->session = parts_.sessions.find(*call->envelope.sid);
    if (!call->session) {
        call->fail(ErrorCode::SessionUnknown, "no such session since the daemon started; say Hello");
        return false;
    }
    if (!is_same_identity(*call, *call->session)) {
        call->session.reset();
        call->fail(ErrorCode::Auth, "the session belongs to another identity");
        return false;
    }
    call->session->heartbeat();
    call->session->used_over(call->shared_peer());
    call->trust();
    return true;
}

bool Dispatcher::check_kind(const CallPtr& call) {
    const auto kind = si::find_kind(call->envelope.kind);
    if (!kind) {
        call->fail(ErrorCode::Kind, fmt::format("unknown kind \"{}\"", cut(call->envelope.kind, 64)));
        return false;
    }
    call->kind = *kind;
    call->kind_known = true;
    const KindTable::Row& row = parts_.kinds.at(*kind);
    call->mutating = row.info->mutating;
    if (!row.serve) {
        call->fail(ErrorCode::Kind, fmt::format("{} is not part of this version of ykd", row.info->name));
        return false;
    }
    if (!call->session || call->session->role >= row.info->role) return true;
    call->fail(ErrorCode::Forbidden, fmt::format("{} needs role {}, the session has {}", row.info->name,
                                                 si::text(row.info->role), si::text(call->session->role)));
    return false;
}

/// Sets the timer anew as long as any call is held. While a call executes none is refused: the number that is missing
/// may be the one that executes.
void Dispatcher::expire_held(const SessionPtr& session) {
    const auto now = SteadyClock::now();
    std::vector<CallPtr> over;
    std::uint64_t expected = 0;
    std::optional<SteadyClock::time_point> next;
    {
        const std::lock_guard lock(session->mutex);
        over = session->seq.expire(now);
        expected = session->seq.expected();
        next = session->seq.first_end();
        session->is_watched = next.has_value();
    }
    for (const CallPtr& call : over) {
        wire::ErrorReply error{ErrorCode::SeqGap, "a sequence number before this one is missing", {}, {}, {}};
        error.details["expected"] = expected;
        call->fail(error);
    }
    if (next) expire_held_at(session, *next > now ? *next : now + kGapWait);
}

void Dispatcher::expire_held_at(const SessionPtr& session, SteadyClock::time_point at) {
    parts_.deadlines.call_at(at, [this, session] { expire_held(session); });
}

/// True when the call may execute now. Else it is held, answered or dropped.
bool Dispatcher::take_turn(const CallPtr& call) {
    if (!call->envelope.seq) {
        call->fail(ErrorCode::MissingField, "a mutating request needs a sequence number", "seq");
        return false;
    }
    const std::hash<std::string_view> hash;
    call->fingerprint = hash(call->envelope.body.bytes()) * 31 + hash(call->envelope.kind);
    Table::Decision decision;
    bool watch = false;
    {
        const std::lock_guard lock(call->session->mutex);
        CallPtr self = call;
        decision =
            call->session->seq.admit(*call->envelope.seq, call->fingerprint, self, SteadyClock::now() + kGapWait);
        if (decision.verdict == Table::Verdict::Execute) call->session->executing = call;
        if (decision.verdict == Table::Verdict::Superseded) {
            const wire::Echo echo = call->envelope.echo();
            if (const CallPtr older = call->session->executing.lock()) older->take_over(call->release_request(), echo);
        }
        watch = decision.verdict == Table::Verdict::Held && !std::exchange(call->session->is_watched, true);
    }
    if (decision.dropped) (*decision.dropped)->drop();
    switch (decision.verdict) {
    case Table::Verdict::Execute: call->has_turn = true; return true;
    case Table::Verdict::Held:
        if (watch) expire_held_at(call->session, SteadyClock::now() + kGapWait);
        return false;
    case Table::Verdict::Superseded: return false;
    default: answer_refused(call, decision); return false;
    }
}

/// Takes turns with other requests with large answers. Each kind waits in a line of its own: when dumps wait for the
/// thread of an RM, requests for events do not.
bool Dispatcher::enter_large_answers(const CallPtr& call) {
    LargeAnswers* turns = parts_.kinds.at(call->kind).turns;
    if (turns == nullptr) return true;
    call->at_end = [turns](const Call& ended) { turns->leave(ended); };
    const std::string line = fmt::format("{} {}", call->session->grant.name, si::info(call->kind).name);
    switch (turns->enter(call, line)) {
    case LargeAnswers::Entry::Begins: return true;
    case LargeAnswers::Entry::Waits: return false;
    case LargeAnswers::Entry::Refused:
        call->busy(fmt::format("{} requests of {} with large answers wait already; read some of them first",
                               LargeAnswers::kMostWaiting, call->session->grant.name));
    }
    return false;
}

void Dispatcher::dispatch_later(const CallPtr& call) {
    parts_.workers.post(source_of(*call), [this, call] { dispatch(call); });
}

void Dispatcher::dispatch_at_once(const CallPtr& call) {
    if (call->message().size() > kShortMessage || parts_.listener_watch.is_question(call->message()))
        return dispatch_later(call);
    if (!decode(call)) return;
    const ItemSource source = source_of(*call);
    if (is_short(*call) && parts_.workers.run_here(source, [this, &call] { dispatch_decoded(call); })) return;
    parts_.workers.post(source, [this, call] { dispatch_decoded(call); });
}

/// Whether its kind is done within some microseconds, so that it need not wait for a worker.
bool Dispatcher::is_short(const Call& call) const {
    const auto kind = si::find_kind(call.envelope.kind);
    return kind && parts_.kinds.at(*kind).length == Length::Short;
}

void Dispatcher::dispatch(const CallPtr& call) {
    if (parts_.listener_watch.is_question(call->message())) {
        wire::Request question = call->release_request();
        return question.reply(question.bytes());
    }
    if (decode(call)) dispatch_decoded(call);
}

void Dispatcher::dispatch_decoded(const CallPtr& call) {
    if (!find_session(call) || !check_kind(call)) return;
    if (call->mutating && call->is_stopping()) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    if (call->mutating && !take_turn(call)) return;
    if (!enter_large_answers(call)) return;
    is_long(*call) ? execute_later(call) : execute(call);
}

void Dispatcher::execute_later(const CallPtr& call) {
    call->has_turn = call->mutating;
    Workers& workers = is_long(*call) ? parts_.long_workers : parts_.workers;
    workers.post(source_of(*call),
                 [this, call] { call->peer().is_gone() && !call->mutating ? call->drop() : execute(call); });
}

} // namespace yk::service
