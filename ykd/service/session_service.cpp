// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/session_service.h"

#include <fmt/format.h>

#include "ykd/process/log.h"

namespace yk::service {
namespace {

constexpr auto kAuthDelay = std::chrono::milliseconds{500}; // before a failed authentication is answered (I-342)

/// Bytes that a client must accept at least: errors, and a page of a dump with one element, need that much.
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

std::vector<std::string> features(const DaemonSettings& settings) {
    std::vector<std::string> features{"detached", "events", "explain"};
    if (settings.manual_schedule) features.emplace_back("manual-schedule");
    if (settings.virtual_clock) features.emplace_back("virtual-clock");
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

std::vector<si::OwnedRm> owned_rms(const RmTable& rms, const Session& session) {
    std::vector<si::OwnedRm> owned;
    for (const RmPtr& rm : rms.all()) {
        if (!rm->is_owned_by(session)) continue;
        const StreamStatus stream = rm->owner.stream().status();
        owned.push_back({rm->id, stream.epoch, stream.ack, rm->owner.state()});
    }
    return owned;
}

} // namespace

std::optional<Grant> SessionService::authenticate(const CallPtr& call, const std::string& token) {
    auto grant = parts_.access.authenticate(call->peer(), token);
    if (grant.ok()) return std::move(grant).value();
    const AuthRefusal& refusal = grant.error();
    if (const auto suffix = parts_.line_limit.suffix(call->peer().address))
        log("core.security").warn("refused {}: {}{}", call->peer().address, refusal.message, *suffix);
    const bool cut = refusal.cut && !call->peer().is_inside; // who asks for somebody else passes the message on
    call->fail_later(kAuthDelay, {ErrorCode::Auth, refusal.message, {}, {}, {}}, cut);
    return std::nullopt;
}

SessionPtr SessionService::resumed_session(const si::HelloRequest& request, const Grant& grant) {
    if (!request.resume) return nullptr;
    const auto boot = wire::make_sid(request.resume->boot_id.bytes);
    const auto sid = wire::make_sid(request.resume->sid.bytes);
    if (!boot || !sid || *boot != parts_.identity.boot_id) return nullptr;
    SessionPtr session = parts_.sessions.find(*sid);
    return session && session->grant.name == grant.name ? session : nullptr;
}

si::HelloReply SessionService::reply_for(Session& session, bool resumed) const {
    si::HelloReply reply;
    reply.version = wire::kVersion;
    reply.sid.bytes = std::string(wire::bytes_of(session.sid));
    reply.boot_id.bytes = std::string(wire::bytes_of(parts_.identity.boot_id));
    reply.server = {"ykd", parts_.identity.version, parts_.identity.version, uuid_text(parts_.identity.boot_id)};
    reply.resumed = resumed;
    {
        const std::lock_guard lock(session.mutex);
        reply.last_seq = session.seq.last_executed();
    }
    reply.rms = owned_rms(parts_.rms, session);
    reply.limits = limits(parts_.settings);
    reply.features = features(parts_.settings);
    reply.role = si::text(session.role);
    reply.who = session.grant.name;
    reply.granted = si::text(session.grant.role);
    reply.rm_pattern = session.grant.rms;
    return reply;
}

void SessionService::hello(const CallPtr& call) {
    const auto request = call->decode<si::HelloRequest>();
    if (!request || !speaks_version(call, *request)) return;
    if (request->max_message.value_or(kLeastReplyLimit) < kLeastReplyLimit)
        return call->fail(ErrorCode::Invalid,
                          fmt::format("maxMessage: a client takes at least {} bytes", kLeastReplyLimit), "maxMessage");
    const auto grant = authenticate(call, request->token);
    if (!grant) return;
    const auto role = asked_role(call, request->role, *grant);
    if (!role) return;
    SessionPtr session = resumed_session(*request, *grant);
    const bool resumed = session != nullptr;
    if (!resumed) {
        auto made = parts_.sessions.create(*grant, *role, parts_.settings.reply_memory, call->shared_peer(),
                                           [this] { return owning_sessions(parts_.rms); });
        if (!made.ok())
            return call->busy(made.error().message + "; end some, or raise --max-sessions (maxSessions)", 1000);
        session = std::move(made).value();
        session->client = request->client;
        session->max_message = request->max_message.value_or(0);
    }
    session->heartbeat();
    session->used_over(call->shared_peer());
    call->trust();
    if (call->peer().transport != wire::Peer::Transport::Ipc)
        parts_.connections.set_identity(call->peer(), grant->name);
    log("wire.session")
        .debug("{} {} session for {} ({})", grant->name, resumed ? "resumed its" : "opened a", request->client,
               si::text(*role));
    si::HelloReply reply = reply_for(*session, resumed);
    reply.address = call->peer().address;
    call->ok_encoded(wire::encoded(reply));
}

void SessionService::bye(const CallPtr& call) {
    parts_.sessions.end(call->session->sid);
    parts_.event_streams.session_ended(call->session->sid);
    call->ok();
}

void SessionService::ping(const CallPtr& call) {
    const auto request = call->decode<si::PingRequest>();
    if (!request) return;
    const auto& rm_id = request->rm_id;
    si::CoreState state = si::CoreState::New;
    if (rm_id && !rm_id->empty()) {
        const RmPtr rm = parts_.rms.find(*rm_id);
        if (!rm && parts_.settings.known_rms.count(*rm_id) == 0)
            return call->fail(ErrorCode::RmUnknown, fmt::format("RM {} is not registered", *rm_id), "rmID");
        if (rm) state = rm->owner.state(); // before mark_alive(), which may change it
        if (rm && rm->is_owned_by(*call->session)) rm->owner.mark_alive();
    } else {
        state = core_state(parts_.rms);
    }
    call->ok({{"bootID", Value::binary({parts_.identity.boot_id.begin(), parts_.identity.boot_id.end()})},
              {"state", static_cast<int>(state)},
              {"now", parts_.clock.now().ns}});
}

} // namespace yk::service
