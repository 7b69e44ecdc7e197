// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/application_states.h"

#include <utility>

#include "libcore/base/check.h"
#include "libcore/planning/headroom.h"

namespace yk {

namespace {

constexpr std::size_t kMaxStateLog = 200; // entries of one application (I-720)

} // namespace

bool is_end(ApplicationState state) noexcept {
    return state == ApplicationState::Completed || state == ApplicationState::Failed;
}

std::optional<ApplicationState> ApplicationStates::next(ApplicationId id, ApplicationEvent event) const noexcept {
    const ApplicationState from = state_.applications[id].state;
    const std::optional<ApplicationState> to = next_state(from, event);
    return to == from ? std::nullopt : to; // no transition to the same state (S-141)
}

void ApplicationStates::handle(ApplicationId id, ApplicationEvent event, std::string_view info, Instant now) noexcept {
    const std::optional<ApplicationState> to = next(id, event);
    if (!to) return; // an error changes nothing
    YK_ASSUME(!is_end(*to), "what ends an application goes through Applications");
    const ApplicationState from = leave(id, *to);
    enter(id, from, now);
    notify(id, event, info, now);
}

ApplicationState ApplicationStates::leave(ApplicationId id, ApplicationState to) noexcept {
    Application& application = state_.applications[id];
    application.timer = 0;
    if (application.state == ApplicationState::Running)
        for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) --queue->running;
    return std::exchange(application.state, to);
}

void ApplicationStates::notify(ApplicationId id, ApplicationEvent event, std::string_view info, Instant now) noexcept {
    Application& application = state_.applications[id];
    auto& log = application.state_log;
    if (log.size() == kMaxStateLog) log.erase(log.begin() + kMaxStateLog / 2);
    log.emplace_back(now, application.state);
    const std::string_view message = info.empty() ? text_of(event) : info;
    state_.callbacks.application_updated({state_.full_name, application.id, text_of(application.state), now, message});
    state_.emit({EventType::App, EventChange::Set, event_detail(application.state), application.id, {}, info}, now);
}

void ApplicationStates::enter(ApplicationId id, ApplicationState from, Instant now) noexcept {
    Application& application = state_.applications[id];
    if (application.state == ApplicationState::Accepted) ++state_.counters.accepted;
    if (application.state == ApplicationState::Running) {
        // What is restored runs since long ago; when it was submitted is the best that is known (I-225).
        application.started = state_.recovering ? application.submitted : now;
        set_allocating(application, false);
        for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) ++queue->running;
    }
    if (application.state == ApplicationState::Completing) {
        application.timer = state_.next_token++;
        state_.timers.set(now + state_.settings.completing_timeout, TimerKind::ApplicationState, id.index,
                          application.timer);
    }
    if (from == ApplicationState::Resuming && application.gang.free > 0) task_groups_.start_timer(id, now);
    if (application.state == ApplicationState::Running || from == ApplicationState::Running)
        state_.slots_changed = true;
    // a limit on running applications holds accepted ones only (C-410)
    if (application.state != ApplicationState::Accepted) indexes_.let_go(application);
    user_limits_.link(id, now);
    indexes_.mark_dirty(id);
    indexes_.mark_dirty(*application.queue);
}

void ApplicationStates::set_allocating(Application& application, bool on) noexcept {
    if (application.allocating_accepted == on) return;
    application.allocating_accepted = on;
    for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) {
        queue->allocating += on ? 1U : 0U;
        queue->allocating -= on ? 0U : 1U;
    }
    indexes_.mark_dirty(*application.queue);
    state_.slots_changed = true;
}

[[gnu::hot]] void ApplicationStates::emit_runnable(ApplicationId id, bool in_queue, bool by_quota,
                                                   Instant now) noexcept {
    Application& application = state_.applications[id];
    const auto emit_change = [&](bool& emitted, bool runnable, EventDetail can, EventDetail cannot) {
        if (emitted == runnable) return;
        emitted = runnable;
        state_.emit({EventType::App, EventChange::None, runnable ? can : cannot, application.id}, now);
    };
    emit_change(application.runnable_in_queue, in_queue, EventDetail::AppRunnableQueue, EventDetail::AppCannotRunQueue);
    emit_change(application.runnable_by_quota, by_quota, EventDetail::AppRunnableQuota, EventDetail::AppCannotRunQuota);
}

void ApplicationStates::emit_runnable_flags(Instant now) noexcept {
    if (!state_.slots_changed) return;
    state_.slots_changed = false;
    std::vector<ApplicationId> waiting;
    state_.applications.for_each([&](ApplicationId id) {
        if (state_.applications[id].pending.gt_zero()) waiting.push_back(id);
    });
    state_.sort_by_name(waiting);
    for (const ApplicationId id : waiting) {
        const Application& application = state_.applications[id];
        emit_runnable(id, has_slot(application), has_user_slot(state_, application), now);
    }
}

} // namespace yk
