// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/task_groups.h"

#include <algorithm>

#include "libcore/base/check.h"

#include "libcore/reports/explain.h"

namespace yk {

namespace {

constexpr std::int64_t kNanosPerMilli = 1'000'000;

} // namespace

void TaskGroups::configure(Gang& gang, const ApplicationSpec& spec, Instant now) const noexcept {
    gang.hard = spec.gang_style == "Hard";
    const std::int64_t milliseconds = spec.execution_timeout_ms;
    const bool given = milliseconds > 0 && milliseconds <= INT64_MAX / kNanosPerMilli;
    gang.timeout = given ? Duration{milliseconds * kNanosPerMilli} : state_.settings.placeholder_timeout;
    const auto created = creation_time(find_tag(spec.tags, kApplicationCreated));
    if (!created || *created >= now) return;
    const Duration left{sat_sub(gang.timeout.count(), sat_sub(now.ns, created->ns))};
    gang.timeout = std::max(left, Duration{kNanosPerMilli});
}

TaskGroup& TaskGroups::find_or_make(Application& application, std::uint32_t name) noexcept {
    const auto [entry, is_new] = application.gang.groups.try_emplace(name, state_.allocations);
    if (is_new) {
        state_.texts.acquire(name);
        state_.budget_meter.add(Held::Names, kPerEntry);
    }
    return entry->second;
}

void TaskGroups::changed(ApplicationId id, std::uint32_t name) noexcept {
    Gang& gang = state_.applications[id].gang;
    const auto known = gang.groups.find(name);
    YK_ASSUME(known != gang.groups.end(), "a group that nobody uses does not change");
    TaskGroup& group = known->second;
    gang.stalled = false;
    indexes_.mark_dirty(id);
    const auto listed = std::find(gang.ready.begin(), gang.ready.end(), &group);
    if (group.is_ready() != (listed != gang.ready.end()))
        group.is_ready() ? gang.ready.push_back(&group) : static_cast<void>(gang.ready.erase(listed));
    if (group.open != group.is_open()) {
        group.open = group.is_open();
        for (const GroupId asks : group.ask_groups) {
            state_.groups[asks].replaceable = group.open;
            attempt_log_.list_unreported(asks);
            indexes_.mark_dirty(asks);
        }
    }
    if (group.count > 0 || !group.asks.empty()) return;
    gang.groups.erase(name);
    state_.texts.release(name);
    state_.budget_meter.take(Held::Names, kPerEntry);
}

void TaskGroups::list(AllocationId id) noexcept {
    const Allocation& ask = state_.allocations[id];
    find_or_make(state_.applications[ask.application], ask.task_group).asks.emplace(order_of(ask), id);
}

void TaskGroups::unlist(AllocationId id) noexcept {
    const Allocation& ask = state_.allocations[id];
    state_.applications[ask.application].gang.groups.find(ask.task_group)->second.asks.erase(order_of(ask));
}

void TaskGroups::count_placeholder(AllocationId id) noexcept {
    const Allocation& made = state_.allocations[id];
    TaskGroup& group = find_or_make(state_.applications[made.application], made.task_group);
    if (group.count++ == 0) group.min_resource = state_.resource_of(made);
    changed(made.application, made.task_group);
}

void TaskGroups::count_placeholder_removed(AllocationId id) noexcept {
    const Allocation& removed = state_.allocations[id];
    TaskGroup& group = find_or_make(state_.applications[removed.application], removed.task_group);
    ++(removed.partner.valid() ? group.replaced : group.timed_out);
    changed(removed.application, removed.task_group);
}

void TaskGroups::change(AllocationId id, std::uint32_t name) noexcept {
    Allocation& ask = state_.allocations[id];
    const std::uint32_t before = ask.task_group;
    ask.task_group = name;
    state_.texts.acquire(name);
    if (ask.is(Allocation::Placeholder)) {
        --find_or_make(state_.applications[ask.application], before).count;
        changed(ask.application, before);
        count_placeholder(id);
    }
    state_.texts.release(before);
}

void TaskGroups::hold(AllocationId id, Instant now) noexcept {
    const Allocation& placed = state_.allocations[id];
    Application& application = state_.applications[placed.application];
    const bool waits =
        application.state == ApplicationState::Accepted || application.state == ApplicationState::Running;
    if (application.gang.free == 0 && waits) start_timer(placed.application, now);
    find_or_make(application, placed.task_group).free.insert(id);
    ++application.gang.free;
    changed(placed.application, placed.task_group);
}

void TaskGroups::emit_placeholder_sum(ApplicationId id, Instant now) noexcept {
    Application& application = state_.applications[id];
    if (application.gang.sum_emitted) return;
    indexes_.refresh();
    const auto why = placeholder_mismatch(state_, application);
    if (!why) return;
    application.gang.sum_emitted = true;
    state_.emit({EventType::App,
                 EventChange::None,
                 EventDetail::None,
                 application.id,
                 {},
                 "Application '" + application.id + "': " + why->text},
                now);
}

void TaskGroups::let_go(AllocationId id) noexcept {
    const Allocation& placed = state_.allocations[id];
    Gang& gang = state_.applications[placed.application].gang;
    gang.free -= static_cast<std::uint32_t>(gang.groups.find(placed.task_group)->second.free.erase(id));
    changed(placed.application, placed.task_group);
}

bool TaskGroups::claim(AllocationId id, Allocation::Flag flag) noexcept {
    YK_ASSUME(flag == Allocation::Released || flag == Allocation::Preempted, "only these flags say that it leaves");
    Allocation& allocation = state_.allocations[id];
    if (allocation.is(Allocation::Released) || allocation.is(Allocation::Preempted)) return false;
    allocation.mark(flag);
    victims_.node_changed(allocation.node);
    if (allocation.is(Allocation::Placeholder)) let_go(id);
    return true;
}

void TaskGroups::start_timer(ApplicationId id, Instant now) noexcept {
    Gang& gang = state_.applications[id].gang;
    if (gang.timer != 0) return;
    gang.timer = state_.next_token++;
    state_.timers.set(now + gang.timeout, TimerKind::Placeholders, id.index, gang.timer);
}

} // namespace yk
