// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/victim_marks.h"

#include <algorithm>

#include "libcore/base/check.h"

namespace yk {

void VictimMarks::mark(AllocationId id, AllocationId ask, std::string_view message, Instant now) noexcept {
    Allocation& victim = state_.allocations[id];
    YK_ASSUME(!victim.is(Allocation::Released) && !victim.is(Allocation::Preempted), "a victim is preempted once");
    const Application& application = state_.applications[victim.application];
    const Resource& size = state_.resource_of(victim);
    task_groups_.claim(id, Allocation::Preempted);
    state_.preemption.marks[id] = {ask, now};
    state_.ledger.add_preempting(application, size);
    state_.nodes.mark_dirty(victim.node, false); // asks that wait for this node may count on it
    state_.emit(
        {EventType::Request, EventChange::None, EventDetail::None, victim.key.view(), application.id, message, &size},
        now);
}

void VictimMarks::count_victims(Queue& leaf, std::size_t count, Instant now) noexcept {
    for (Queue* queue = &leaf; queue != nullptr; queue = queue->parent) {
        const std::uint64_t before = queue->recent_victims(now);
        if (before == 0) queue->victims_since = now;
        queue->victims_in_minute = before + count;
    }
}

void VictimMarks::announce(const std::vector<AllocationId>& victims, std::string_view message, Instant now) noexcept {
    std::vector<ReleasedAllocation> released;
    released.reserve(victims.size());
    for (const AllocationId id : victims) {
        const Allocation& victim = state_.allocations[id];
        released.push_back({state_.full_name, state_.applications[victim.application].id, victim.key.view(),
                            TerminationType::PreemptedByScheduler, message});
        unconfirmed_releases_.expect(id, TerminationType::PreemptedByScheduler, now);
    }
    state_.counters.victims += released.size();
    if (!released.empty()) state_.callbacks.allocations_released(released);
}

void VictimMarks::forget(AllocationId id, Instant now) noexcept {
    Allocation& victim = state_.allocations[id];
    const Resource& size = state_.resource_of(victim);
    state_.ledger.take_preempting(state_.applications[victim.application], size);
    const auto mark = state_.preemption.marks.find(id);
    const AllocationId ask = mark->second.ask;
    state_.preemption.marks.erase(mark);
    victim.mark(Allocation::Preempted, false);
    if (!ask.valid()) return;
    PreemptionRecords::Trigger& trigger = state_.preemption.triggers.at(ask);
    trigger.victims.erase(std::find(trigger.victims.begin(), trigger.victims.end(), id));
    if (trigger.victims.empty())
        state_.timers.set(now + state_.settings.preemption_unplaced, TimerKind::PreemptionUnplaced, ask.index,
                          trigger.token);
}

void VictimMarks::begin_trigger(AllocationId id, const std::vector<AllocationId>& victims) noexcept {
    Allocation& ask = state_.allocations[id];
    ask.mark(Allocation::Triggered);
    state_.preemption.triggers[id] = {victims, victims.size(), state_.next_token++};
    change_promised(ask, true);
}

void VictimMarks::end_trigger(AllocationId id, bool used, Instant now) noexcept {
    Allocation& ask = state_.allocations[id];
    YK_ASSUME(ask.is(Allocation::Triggered), "only an ask that waits for victims ends that");
    change_promised(ask, false);
    ask.mark(Allocation::Triggered, false);
    const auto trigger = state_.preemption.triggers.find(id);
    if (!used) state_.counters.victims_unused += trigger->second.chosen;
    for (const AllocationId victim : trigger->second.victims) {
        state_.preemption.marks.at(victim).ask = {};
        state_.nodes.mark_dirty(state_.allocations[victim].node, false);
    }
    state_.preemption.triggers.erase(trigger);
    checks_.changed(id, now);
}

void VictimMarks::change_promised(const Allocation& ask, bool promised) noexcept {
    const Resource& size = state_.resource_of(ask);
    const Application& application = state_.applications[ask.application];
    promised ? state_.ledger.promise(application, size) : state_.ledger.take_back(application, size);
}

void VictimMarks::unplaced_timer(AllocationId ask, Instant now) noexcept {
    const ReservationId held = state_.allocations[ask].reservation;
    end_trigger(ask, false, now);
    indexes_.wake(held); // a required-node ask chooses anew in the reserved step
}

} // namespace yk
