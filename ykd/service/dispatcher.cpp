#include "ykd/service/dispatcher.h"

#include <fmt/format.h>

#include <exception>
#include <functional>

#include "libcore/base/text.h"
#include "ykd/service/daemon.h"
#include "ykd/service/log.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

using wire::Peer;

constexpr auto kGapWait = std::chrono::seconds{1}; // I-332

/// Kinds that wait for later work have no service.
void not_in_this_version(const CallPtr& call) {
    call->fail(ErrorCode::Kind, fmt::format("{} is not part of this version of ykd", si::info(call->kind).name));
}

using Service = void (*)(const CallPtr&);

Service service_of(si::Kind kind) {
    using si::Kind;
    switch (kind) {
    case Kind::Hello: return hello;
    case Kind::Bye: return bye;
    case Kind::Ping: return ping;
    case Kind::Status: return status;
    case Kind::RegisterResourceManager: return register_rm;
    case Kind::UnregisterResourceManager: return unregister_rm;
    case Kind::UpdateAllocation: return update_allocation;
    case Kind::UpdateApplication: return update_application;
    case Kind::UpdateNode: return update_node;
    case Kind::UpdateConfiguration: return update_configuration;
    case Kind::ValidateConfiguration: return validate_configuration;
    case Kind::Reload: return reload_configuration;
    case Kind::Poll: return poll;
    case Kind::CallResult: return call_result;
    case Kind::Sync: return sync;
    case Kind::Dump: return dump;
    case Kind::Events: return events;
    case Kind::EventStream: return event_stream;
    case Kind::Metrics: return metrics;
    case Kind::Health: return health;
    case Kind::Explain: return explain;
    case Kind::StreamLog: return stream_log;
    case Kind::Step: return step;
    case Kind::Clock: return advance_clock;
    case Kind::SetExtraConfig: return set_extra_config;
    case Kind::Shutdown: return shut_down;
    case Kind::RecoveryDone:
    case Kind::RecoveryList:
    case Kind::ResolveRecovery: return nullptr;
    }
    return nullptr;
}

void execute(const CallPtr& call) {
    const Service service = service_of(call->kind);
    try {
        service(call);
    } catch (const std::exception& fault) { // a bug: no service lets one out
        call->fail_internal(fault.what());
    }
}

void log_garbage(Daemon& daemon, const std::string& address) {
    if (const auto suffix = daemon.line_limit().suffix(address))
        log("wire").warn("closing a connection of {} after ten undecodable messages{}", address, *suffix);
}

bool decode(Daemon& daemon, const CallPtr& call) {
    auto decoded = wire::decode_request(call->message());
    if (!decoded.ok()) {
        const bool garbage = decoded.error().error.code == ErrorCode::Decode;
        const bool cut = garbage && daemon.connections().count_garbage(call->peer());
        if (cut) log_garbage(daemon, call->peer().address);
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

/// A session is used by the identity that opened it only (I-323).
bool is_same_identity(Daemon& daemon, const Call& call, const Session& session) {
    if (call.peer().transport == Peer::Transport::Ipc) return session.grant.name == call.peer().address;
    return daemon.connections().claim_identity(call.peer(), session.grant.name);
}

bool find_session(Daemon& daemon, const CallPtr& call) {
    if (call->envelope.kind == si::info(si::Kind::Hello).name) return true;
    call->session = daemon.sessions().find(*call->envelope.sid);
    if (!call->session) {
        call->fail(ErrorCode::SessionUnknown, "no such session since the daemon started; say Hello");
        return false;
    }
    if (!is_same_identity(daemon, *call, *call->session)) {
        call->session.reset();
        call->fail(ErrorCode::Auth, "the session belongs to another identity");
        return false;
    }
    call->session->touch();
    call->session->used_over(call->shared_peer());
    call->trust();
    return true;
}

bool check_kind(const CallPtr& call) {
    const auto kind = si::find_kind(call->envelope.kind);
    if (!kind) {
        call->fail(ErrorCode::Kind, fmt::format("unknown kind \"{}\"", cut(call->envelope.kind, 64)));
        return false;
    }
    call->kind = *kind;
    call->kind_known = true;
    call->mutating = si::info(*kind).mutating;
    if (service_of(*kind) == nullptr) {
        not_in_this_version(call);
        return false;
    }
    if (!call->session || call->session->role >= si::info(*kind).role) return true;
    call->fail(ErrorCode::Forbidden, fmt::format("{} needs role {}, the session has {}", si::info(*kind).name,
                                                 si::text(si::info(*kind).role), si::text(call->session->role)));
    return false;
}

using Table = SeqTable<CallPtr, RememberedReply>;

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

void expire_held_at(Daemon& daemon, const SessionPtr& session, SteadyClock::time_point at);

/// Refuses the held calls of a session whose gap did not fill in time, and looks again as long as any is held. While a
/// call executes there is no gap.
void expire_held(Daemon& daemon, const SessionPtr& session) {
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
    if (next) expire_held_at(daemon, session, *next > now ? *next : now + kGapWait);
}

void expire_held_at(Daemon& daemon, const SessionPtr& session, SteadyClock::time_point at) {
    daemon.deadlines().call_at(at, [&daemon, session] { expire_held(daemon, session); });
}

/// True when the call may run now. Else it is held, answered or dropped.
bool take_turn(Daemon& daemon, const CallPtr& call) {
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
        if (watch) expire_held_at(daemon, call->session, SteadyClock::now() + kGapWait);
        return false;
    case Table::Verdict::Superseded: return false;
    default: answer_refused(call, decision); return false;
    }
}

/// Among requests with large answers: false when it waits, or was answered. Each kind has its own line: when dumps are
/// stuck behind an RM, events are not.
bool enter_large_answers(Daemon& daemon, const CallPtr& call) {
    LargeAnswers* turns = daemon.large_answers_of(call->kind);
    if (turns == nullptr) return true;
    const std::string line = fmt::format("{} {}", call->session->grant.name, si::info(call->kind).name);
    switch (turns->enter(call, line)) {
    case LargeAnswers::Entry::Begins: return true;
    case LargeAnswers::Entry::Waits: return false;
    case LargeAnswers::Entry::Refused:
        call->busy(fmt::format("{} requests of {} with large answers wait already", LargeAnswers::kMostWaiting,
                               call->session->grant.name));
    }
    return false;
}

} // namespace

void dispatch(Daemon& daemon, const CallPtr& call) {
    if (daemon.listener_watch().is_question(call->message())) {
        wire::Request question = call->release_request();
        return question.reply(question.bytes());
    }
    if (!decode(daemon, call) || !find_session(daemon, call) || !check_kind(call)) return;
    if (call->mutating && daemon.is_stopping()) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    if (call->mutating && !take_turn(daemon, call)) return;
    if (!enter_large_answers(daemon, call)) return;
    execute(call);
}

void execute_later(Daemon& daemon, const CallPtr& call) {
    call->has_turn = call->mutating;
    daemon.workers().post([call] { call->peer().is_gone() && !call->mutating ? call->drop() : execute(call); });
}

} // namespace yk::service
