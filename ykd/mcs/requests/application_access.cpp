// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/application_access.h"

#include <utility>

#include "ykd/mcs/local_work/account_rules.h"

namespace yk::service {
namespace {

constexpr std::uint32_t kComeAgain = 500; // ms, when MCS is not ready

} // namespace

bool is_hosted(const McsThread& mcs, const CallPtr& call) {
    if (mcs.is_started()) return true;
    call->fail(ErrorCode::BadState, "this ykd keeps no deployments; the settings switch it on: mcs: {enabled: true}");
    return false;
}

void with_application(McsThread& mcs, const CallPtr& call,
                      std::function<void(McsApplication& application, Instant now)> use) {
    mcs.post([call, use = std::move(use), &mcs](McsApplication* application, Instant now) {
        if (application != nullptr && application->manager().is_running()) return use(*application, now);
        const McsThread::State state = mcs.state();
        if (state.phase == McsThread::State::Phase::Failed) return call->fail(ErrorCode::BadState, state.reason);
        if (!state.reason.empty()) return call->busy(state.reason, kComeAgain);
        const std::vector<std::string> faults = mcs.degraded();
        call->busy(faults.empty() ? "MCS is reading its database" : "MCS cannot be asked yet: " + faults.front(),
                   kComeAgain);
    });
}

DeploymentRows rows_of(const McsApplication& application, rs::Ptr<mcs::Deployment> deployment, const Call& call) {
    const std::string& id = deployment->meta.id;
    auto scale = application.scales().get(id);
    auto schedule = application.schedules().get(id);
    return {std::move(deployment), std::move(scale), std::move(schedule), !is_of_admin(call)};
}

bool is_of_admin(const Call& call) {
    return call.session && call.session->role == si::Role::Admin;
}

std::string submitter_of(const Call& call) {
    const bool is_local = call.peer().transport == wire::Peer::Transport::Ipc;
    return submitter_text(is_local, call.peer().uid, call.session ? call.session->grant.name : std::string{});
}

} // namespace yk::service
