// Victims being announced and confirmed, and the asks that wait for them (P-072 to P-081, P-098, 3.11).

#include <algorithm>

#include "libcore/scheduler/partition_context.h"

namespace yk {

// --- the decision
// ----------------------------------------------------------------------------------------------------------

/// P-072, P-098: all victims or none; then the ask holds the node. Whether it was done.
bool PartitionContext::commit_victims(const Plan& plan, Instant now) {
    const auto leaves = [this](AllocationId id) {
        return !s_.allocations[id].is(Allocation::Preempted) && !s_.allocations[id].is(Allocation::Released);
    };
    const std::vector<AllocationId>& victims = planner_.victims();
    if (!std::all_of(victims.begin(), victims.end(), leaves)) {
        s_.preemption.log(plan.ask, PreemptionResult::Released, now);
        s_.preemption.attempts[plan.ask].result = PreemptionResult::Released;
        return false;
    }
    const Allocation& ask = s_.allocations[plan.ask];
    const Application& owner = s_.applications[ask.application];
    const std::string by = std::string{ask.key.view()} + " from application " + owner.id + " in " + owner.queue->path;
    for (const AllocationId victim : victims) mark_preempted(victim, plan.ask, "Preempted by " + by, now);
    if (plan.kind == Plan::Kind::Preempt) {
        count_victims(*owner.queue, victims.size(), now);
        if (ask.reservation.valid() && s_.reservations[ask.reservation].node != plan.node)
            drop_reservation(ask.reservation, now); // P-021
        const std::vector<ReservationId> held = s_.nodes[plan.node].reservations;
        for (const ReservationId id : held)
            if (id != ask.reservation) drop_reservation(id, now); // stale ones only (P-050)
        if (!ask.reservation.valid()) make_reservation(plan.ask, plan.node, now);
    }
    begin_trigger(plan.ask, victims);
    checks_.update(ask.group, now);
    announce_victims(victims, "preempted for allocation key " + by, now);
    return true;
}

void PartitionContext::mark_preempted(AllocationId id, AllocationId ask, std::string_view message, Instant now) {
    Allocation& victim = s_.allocations[id];
    const Application& application = s_.applications[victim.application];
    const Resource& size = s_.resource_of(victim);
    claim(id, Allocation::Preempted); // the caller knows that it can be
    s_.preemption.marks[id] = {ask, now};
    for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) queue->preempting.add(size);
    s_.nodes.touch(victim.node, false); // those who wait for this node may count on it
    s_.tell(
        {EventType::Request, EventChange::None, EventDetail::None, victim.key.view(), application.id, message, &size},
        now);
}

/// For the storm guard: victims that asks of the leaf have had in the minute that began with the first of them.
void PartitionContext::count_victims(Queue& leaf, std::size_t count, Instant now) {
    for (Queue* queue = &leaf; queue != nullptr; queue = queue->parent) {
        const std::uint64_t before = queue->recent_victims(now);
        if (before == 0) queue->victims_since = now;
        queue->victims_in_minute = before + count;
    }
}

/// P-131: one message.
void PartitionContext::announce_victims(const std::vector<AllocationId>& victims, std::string_view message,
                                        Instant now) {
    std::vector<ReleasedAllocation> released;
    released.reserve(victims.size());
    for (const AllocationId id : victims) {
        const Allocation& victim = s_.allocations[id];
        released.push_back({s_.full_name, s_.applications[victim.application].id, victim.key.view(),
                            TerminationType::PreemptedByScheduler, message});
        expect_confirmation(id, TerminationType::PreemptedByScheduler, now);
    }
    s_.counters.victims += released.size();
    if (!released.empty()) s_.callbacks.allocations_released(released);
}

// --- what follows
// ----------------------------------------------------------------------------------------------------------

/// P-075: the victim is gone, in whatever way.
void PartitionContext::forget_mark(AllocationId id, Instant now) {
    Allocation& victim = s_.allocations[id];
    const Resource& size = s_.resource_of(victim);
    for (Queue* queue = s_.applications[victim.application].queue; queue != nullptr; queue = queue->parent) {
        queue->preempting.sub(size);
        queue->preempting.prune();
    }
    const auto mark = s_.preemption.marks.find(id);
    const AllocationId ask = mark->second.ask;
    s_.preemption.marks.erase(mark);
    victim.mark(Allocation::Preempted, false);
    if (!ask.valid()) return;
    PreemptionRecords::Trigger& trigger = s_.preemption.triggers.at(ask);
    trigger.victims.erase(std::find(trigger.victims.begin(), trigger.victims.end(), id));
    if (trigger.victims.empty())
        s_.timers.set(now + s_.settings.preemption_unplaced, TimerKind::PreemptionUnplaced, ask.index, trigger.token);
}

void PartitionContext::begin_trigger(AllocationId id, const std::vector<AllocationId>& victims) {
    Allocation& ask = s_.allocations[id];
    ask.mark(Allocation::Triggered);
    s_.preemption.triggers[id] = {victims, victims.size(), s_.next_token++};
    change_promised(ask, true);
}

/// P-079: the ask is placed, or has lost what it held; victims that are on their way out are nobody's.
void PartitionContext::end_trigger(AllocationId id, bool used, Instant now) {
    Allocation& ask = s_.allocations[id];
    change_promised(ask, false);
    ask.mark(Allocation::Triggered, false);
    const auto trigger = s_.preemption.triggers.find(id);
    if (!used) s_.counters.victims_unused += trigger->second.chosen;
    for (const AllocationId victim : trigger->second.victims) {
        s_.preemption.marks.at(victim).ask = {};
        s_.nodes.touch(s_.allocations[victim].node, false);
    }
    s_.preemption.triggers.erase(trigger);
    checks_.changed(id, now);
}

void PartitionContext::change_promised(const Allocation& ask, bool promised) {
    const Resource& size = s_.resource_of(ask);
    for (Queue* queue = s_.applications[ask.application].queue; queue != nullptr; queue = queue->parent) {
        promised ? queue->promised.add(size) : queue->promised.sub(size);
        queue->promised.prune();
    }
}

/// P-079: all victims are gone, and yet it waits; it may try again.
void PartitionContext::unplaced_timer(AllocationId ask, Instant now) {
    const ReservationId held = s_.allocations[ask].reservation;
    end_trigger(ask, false, now);
    orders_.wake(held); // a required-node ask chooses anew in the reserved step
}

} // namespace yk
