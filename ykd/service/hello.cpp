// Hello, Bye, Ping (interface.md 4.3).

#include <fmt/format.h>

#include "ykd/service/daemon.h"
#include "ykd/service/log.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

constexpr auto kAuthDelay = std::chrono::milliseconds{500}; // I-342

/// A peer that takes less could not even be told of errors, or a page of a dump with one thing in it.
constexpr std::uint32_t kLeastReplyLimit = 8U << 10;

std::uint64_t to_ms(Duration duration) {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

bool speaks_version(const CallPtr& call, const si::HelloRequest& request) {
    if (request.min <= wire::kVersion && wire::kVersion <= request.max) return true;
    wire::ErrorReply error{ErrorCode::Version,
                           fmt::format("no common protocol version: the client speaks {} to {}, this daemon {}",
                                       request.min, request.max, wire::kVersion),
                           {},
                           {},
                           {}};
    error.details = {{"min", wire::kVersion}, {"max", wire::kVersion}};
    call->fail(error);
    return false;
}

std::optional<Grant> authenticate(const CallPtr& call, const std::string& token) {
    Daemon& daemon = call->daemon();
    auto grant = daemon.access().authenticate(call->peer(), token);
    if (grant.ok()) return std::move(grant).value();
    const AuthRefusal& refusal = grant.error();
    if (const auto suffix = daemon.line_limit().suffix(call->peer().address))
        log("core.security").warn("refused {}: {}{}", call->peer().address, refusal.message, *suffix);
    call->fail_later(kAuthDelay, {ErrorCode::Auth, refusal.message, {}, {}, {}}, refusal.cut);
    return std::nullopt;
}

std::optional<si::Role> asked_role(const CallPtr& call, const std::string& text, const Grant& grant) {
    const auto role = si::find_role(text);
    if (!role) {
        call->fail(ErrorCode::Invalid, fmt::format("role \"{}\" is unknown; there are observer, rm and admin", text),
                   "role");
        return std::nullopt;
    }
    if (*role <= grant.role) return role;
    call->fail(ErrorCode::Forbidden,
               fmt::format("{} is granted role {}, not {}", grant.name, si::text(grant.role), text), "role");
    return std::nullopt;
}

/// I-324: the live session of this boot and identity, if the client names it.
SessionPtr resumed_session(Daemon& daemon, const si::HelloRequest& request, const Grant& grant) {
    if (!request.resume) return nullptr;
    const auto boot = wire::make_sid(request.resume->boot_id.bytes);
    const auto sid = wire::make_sid(request.resume->sid.bytes);
    if (!boot || !sid || *boot != daemon.boot_id()) return nullptr;
    SessionPtr session = daemon.sessions().find(*sid);
    return session && session->grant.name == grant.name ? session : nullptr;
}

std::vector<std::string> features(const Daemon& daemon) {
    std::vector<std::string> features{"detached", "events", "explain"};
    if (daemon.settings().manual_schedule) features.emplace_back("manual-schedule");
    if (daemon.settings().virtual_clock) features.emplace_back("virtual-clock");
    return features;
}

si::HelloLimits limits(const DaemonSettings& settings) {
    si::HelloLimits limits;
    limits.max_message = settings.max_message;
    limits.max_poll_wait_ms = to_ms(settings.max_poll_wait);
    limits.liveness_timeout_ms = to_ms(settings.liveness_timeout);
    limits.session_ttl_ms = to_ms(settings.session_ttl);
    limits.max_sessions = settings.max_sessions;
    limits.outbound_max_items = settings.outbound.items;
    limits.outbound_max_bytes = settings.outbound.bytes;
    return limits;
}

std::vector<si::OwnedRm> owned_rms(Daemon& daemon, const Session& session) {
    std::vector<si::OwnedRm> owned;
    for (const RmPtr& rm : daemon.rms().all()) {
        if (!rm->is_owned_by(session)) continue;
        const StreamStatus stream = rm->owner.stream().status();
        owned.push_back({rm->id, stream.epoch, stream.ack, rm->owner.state()});
    }
    return owned;
}

si::HelloReply reply_for(Daemon& daemon, Session& session, bool resumed) {
    si::HelloReply reply;
    reply.version = wire::kVersion;
    reply.sid.bytes = std::string(wire::bytes_of(session.sid));
    reply.boot_id.bytes = std::string(wire::bytes_of(daemon.boot_id()));
    reply.server = {"ykd", daemon.version(), daemon.version(), uuid_text(daemon.boot_id())};
    reply.resumed = resumed;
    {
        const std::lock_guard lock(session.mutex);
        reply.last_seq = session.seq.last_executed();
    }
    reply.rms = owned_rms(daemon, session);
    reply.limits = limits(daemon.settings());
    reply.features = features(daemon);
    reply.role = si::text(session.role);
    return reply;
}

} // namespace

void hello(const CallPtr& call) {
    Daemon& daemon = call->daemon();
    const auto request = call->decode<si::HelloRequest>();
    if (!request || !speaks_version(call, *request)) return;
    if (request->max_message.value_or(kLeastReplyLimit) < kLeastReplyLimit)
        return call->fail(ErrorCode::Invalid,
                          fmt::format("maxMessage: a client takes at least {} bytes", kLeastReplyLimit), "maxMessage");
    const auto grant = authenticate(call, request->token);
    if (!grant) return;
    const auto role = asked_role(call, request->role, *grant);
    if (!role) return;
    SessionPtr session = resumed_session(daemon, *request, *grant);
    const bool resumed = session != nullptr;
    if (!resumed) {
        auto made = daemon.sessions().create(*grant, *role, daemon.settings().reply_memory, call->shared_peer(),
                                             [&daemon] { return daemon.owning_sessions(); });
        if (!made.ok())
            return call->busy(made.error().message + "; end some, or raise --max-sessions (maxSessions)", 1000);
        session = std::move(made).value();
        session->client = request->client;
        session->max_message = request->max_message.value_or(0);
    }
    session->touch();
    session->used_over(call->shared_peer());
    call->trust();
    if (call->peer().transport != wire::Peer::Transport::Ipc)
        daemon.connections().set_identity(call->peer(), grant->name);
    log("wire.session")
        .debug("{} {} session for {} ({})", grant->name, resumed ? "resumed its" : "opened a", request->client,
               si::text(*role));
    call->ok_encoded(wire::encoded(reply_for(daemon, *session, resumed)));
}

void bye(const CallPtr& call) {
    call->daemon().sessions().end(call->session->sid);
    call->daemon().event_streams().session_ended(call->session->sid);
    call->ok();
}

void ping(const CallPtr& call) {
    Daemon& daemon = call->daemon();
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const auto rm_id = reader.optional_text("rmID");
    if (!call->accepts(reader)) return;
    si::CoreState state = si::CoreState::New;
    if (rm_id && !rm_id->empty()) {
        const RmPtr rm = daemon.rms().find(*rm_id);
        if (!rm) return call->fail(ErrorCode::RmUnknown, fmt::format("RM {} is not registered", *rm_id), "rmID");
        state = rm->owner.state(); // as it was until now: to be heard may change it
        if (rm->is_owned_by(*call->session)) rm->owner.heard();
    } else {
        state = daemon.state();
    }
    call->ok({{"bootID", Value::binary({daemon.boot_id().begin(), daemon.boot_id().end()})},
              {"state", static_cast<int>(state)},
              {"now", daemon.now().ns}});
}

} // namespace yk::service
