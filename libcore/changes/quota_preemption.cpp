// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/quota_preemption.h"

#include <algorithm>

#include "libcore/preemption/quota.h"

namespace yk {

namespace {

/// Whether quota preemption applies to the queue: it is configured, with a max and a delay (P-100).
bool takes_part(const Queue& queue) {
    return queue.managed && !queue.max.unlimited() && queue.properties.quota_preemption_delay > Duration::zero();
}

} // namespace

void QuotaPreemption::set_quota_due(Queue& queue, std::optional<Instant> at, Instant now) noexcept {
    queue.quota_due = at;
    if (at) wait_for_quota(now);
}

/// Sets the timer for the next look at all queues (P-110).
void QuotaPreemption::wait_for_quota(Instant now) noexcept {
    if (state_.preemption.quota_timer || !state_.settings.quota_checks) return;
    state_.preemption.quota_timer = now + state_.settings.quota_interval;
    state_.timers.set(*state_.preemption.quota_timer, TimerKind::QuotaCheck);
}

void QuotaPreemption::configured(Queue& queue, const Limit& before, Duration delay_before, Instant now) noexcept {
    if (queue.is_root() && takes_part(queue)) return;
    const Duration delay = queue.properties.quota_preemption_delay;
    if (!takes_part(queue) || within_max(queue.max, queue.allocated))
        set_quota_due(queue, std::nullopt, now);
    else if (queue.quota_due)
        set_quota_due(queue, *queue.quota_due + (delay - delay_before), now);
    else if (before.same_as(queue.max) ? delay_before == Duration::zero() : is_tighter(before, queue.max))
        set_quota_due(queue, now + delay, now);
}

void QuotaPreemption::forced(Queue& leaf, Instant now) noexcept {
    if (!state_.quota_preemption_enabled) return;
    for (Queue* queue = &leaf; queue != nullptr; queue = queue->parent)
        if (takes_part(*queue) && !queue->quota_due && !within_max(queue->max, queue->allocated))
            set_quota_due(*queue, now + queue->properties.quota_preemption_delay, now);
}

void QuotaPreemption::check(Instant now) noexcept {
    state_.preemption.quota_timer.reset();
    if (state_.quota_preemption_enabled && state_.settings.quota_checks) check_quota_below(state_.queues.root(), now);
    state_.queues.for_each([&](const Queue& queue) {
        if (queue.quota_due || queue.quota_again) wait_for_quota(now);
    });
}

void QuotaPreemption::check_quota_below(Queue& queue, Instant now) noexcept {
    if (within_max(queue.max, queue.allocated) || queue.state == ObjectState::Draining) {
        queue.quota_due.reset();
        queue.quota_again = false;
    }
    if (queue.quota_again && !queue.quota_due) arm_quota_again(queue, now);
    if (queue.quota_due && *queue.quota_due <= now) {
        run_quota(queue, now);
        return;
    }
    for (const auto& [name, child] : queue.children) check_quota_below(*child, now);
}

/// Property quota.preemption.rearm: makes the queue due again if a run left usage above the max, its victims have been
/// released, and there are others to take.
void QuotaPreemption::arm_quota_again(Queue& queue, Instant now) noexcept {
    if (queue.properties.quota_preemption_delay <= Duration::zero() || !queue.properties.quota_rearm) {
        queue.quota_again = false;
        return;
    }
    if (!queue.preempting.is_zero()) return;
    const std::vector<LeafTarget> leaves = distribute(queue, quota_target(queue));
    const bool any = std::any_of(leaves.begin(), leaves.end(), [this](const LeafTarget& leaf) {
        return !quota_victims(state_, leaf).victims.empty();
    });
    if (!any) return;
    queue.quota_again = false;
    set_quota_due(queue, now + queue.properties.quota_preemption_delay, now);
}

/// One run: decides on the victims of all leaves, then marks and announces them, by application. The queue is not due
/// any more, whatever the run achieves (P-111, P-112, P-127, P-128).
void QuotaPreemption::run_quota(Queue& queue, Instant now) noexcept {
    queue.quota_due.reset();
    const Resource target = quota_target(queue);
    Resource claimed;
    std::size_t candidates = 0;
    std::map<std::string_view, std::vector<AllocationId>> victims; // by application
    for (const LeafTarget& leaf : distribute(queue, target)) {
        const QuotaVictims found = quota_victims(state_, leaf);
        candidates += found.candidates;
        claimed.add(found.claimed);
        for (const AllocationId id : found.victims)
            victims[state_.applications[state_.allocations[id].application].id].push_back(id);
    }
    const std::string message = "preempted by quota change in " + queue.path;
    std::size_t count = 0;
    for (const auto& [application, ids] : victims) {
        for (const AllocationId id : ids) victim_marks_.mark(id, {}, message, now);
        count += ids.size();
    }
    for (const auto& [application, ids] : victims) victim_marks_.announce(ids, message, now);
    queue.last_quota_run = Queue::QuotaRun{now, target, claimed, candidates, count};
    queue.quota_again = queue.properties.quota_rearm && !queue.is_root();
    if (candidates == 0) return;
    const std::string outcome = "target " + state_.named(target).text() + ", claimed " + state_.named(claimed).text() +
                                ", " + std::to_string(candidates) + " candidates, " + std::to_string(count) +
                                " victims";
    state_.emit({EventType::Queue,
                 EventChange::Set,
                 EventDetail::QueuePreemption,
                 queue.path,
                 {},
                 outcome,
                 &queue.max.bounds()},
                now);
}

} // namespace yk
