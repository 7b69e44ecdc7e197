// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/rm_checks.h"

#include <fmt/format.h>

#include "ykd/process/log.h"

namespace yk::service {
namespace {

/// Whether the session may change the RM. A detached RM belongs to no session: whoever may own it may use it (I-387).
bool may_use(const Call& call, const Rm& rm, bool impersonate, Ownership ownership) {
    const Session& session = *call.session;
    if (rm.is_detached()) return session.may_own(rm.id);
    if (rm.is_owned_by(session)) return true;
    if (session.role != si::Role::Admin) return false;
    if (ownership == Ownership::OwnerOrAdmin) return true;
    if (!impersonate) return false;
    log("core.rmproxy").info("{} acts for RM {}: {}", session.grant.name, rm.id, si::info(call.kind).name);
    return true;
}

/// Whether the RM is lost; then the call was answered.
bool refuses_lost(const CallPtr& call, const Rm& rm) {
    if (rm.owner.state() != si::CoreState::Lost) return false;
    const StateRecord::Reading record = rm.owner.state_record();
    if (record.state != si::CoreState::Lost) return false; // it has registered since
    call->fail(resync_required(rm.id, record.reason));
    return true;
}

} // namespace

wire::ErrorReply resync_required(const std::string& rm_id, const std::string& why) {
    wire::ErrorReply error{
        ErrorCode::ResyncRequired, fmt::format("RM {} is lost: {}; register again", rm_id, why), {}, {}, {}};
    error.details["reason"] = why;
    return error;
}

bool sees_rm(const CallPtr& call, const std::string& rm_id) {
    const Session& session = *call->session;
    if (session.may_see(rm_id)) return true;
    call->fail(ErrorCode::Forbidden,
               fmt::format("this session of role rm sees the RMs that match {}, which RM {} does not; say hello as "
                           "observer to see all",
                           session.grant.rms, rm_id),
               "rmID");
    return false;
}

bool is_meant_for(const Call& call, const Rm& rm, std::uint64_t epoch) {
    if (rm.epoch() == epoch || rm.is_owned_by(*call.session)) return true;
    return rm.is_detached() && call.session->may_own(rm.id);
}

bool is_daemons_own(const McsSettings& mcs, const Call& call, const std::string& rm_id) {
    return mcs.enabled && rm_id == mcs.rm_id && !call.peer().is_inside;
}

bool has_memory(const MemoryGuard& memory, const CallPtr& call, std::uint64_t bytes) {
    constexpr std::uint32_t kComeAgain = 1000; // ms
    if (memory.admits(bytes)) return true;
    call->busy(memory.sentence() + ": nothing is added until there is room; removals are carried out", kComeAgain);
    return false;
}

RmPtr find_rm(const RmTable& rms, const CallPtr& call, const std::string& rm_id, bool impersonate,
              Ownership ownership) {
    RmPtr rm = rms.find(rm_id);
    if (!rm || rm->owner.state() == si::CoreState::New) {
        call->fail(ErrorCode::RmUnknown, fmt::format("RM {} is not registered", rm_id), "rmID");
        return nullptr;
    }
    call->rm_epoch = rm->epoch(); // before the owner is checked: a later registration has another epoch
    if (ownership != Ownership::Viewer && refuses_lost(call, *rm)) return nullptr;
    if (ownership == Ownership::Viewer) {
        if (!sees_rm(call, rm_id)) return nullptr;
    } else if (!may_use(*call, *rm, impersonate, ownership)) {
        call->fail(ErrorCode::Forbidden,
                   fmt::format("RM {} belongs to another session; an admin may say impersonate: true", rm_id), "rmID");
        return nullptr;
    }
    call->is_of_owner = rm->is_owned_by(*call->session);
    if (call->is_of_owner) rm->owner.mark_alive();
    return rm;
}

RmThread::Gone rm_left(const CallPtr& call, const std::string& rm_id) {
    return [call, rm_id] {
        if (call->is_stopping()) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
        call->fail(ErrorCode::RmUnknown, fmt::format("RM {} is not registered any more", rm_id), "rmID");
    };
}

bool is_served(SessionTable& sessions, const RmFacts& facts) {
    if (!facts.owner) return false;
    const SessionPtr session = sessions.find(*facts.owner);
    return session && session->is_connected();
}

} // namespace yk::service
