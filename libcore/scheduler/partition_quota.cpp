// Quota preemption: when a queue is due, and its run (3.10, C-383 to C-386).

#include <algorithm>

#include "libcore/scheduler/partition_context.h"
#include "libcore/scheduler/preemption_quota.h"

namespace yk {

namespace {

/// P-100: configured, with a max and a delay.
bool takes_part(const Queue& queue) {
    return queue.managed && !queue.max.unlimited() && queue.properties.quota_preemption_delay > Duration::zero();
}

} // namespace

// --- arming
// ----------------------------------------------------------------------------------------------------------------

void PartitionContext::set_quota_due(Queue& queue, std::optional<Instant> at, Instant now) {
    queue.quota_due = at;
    if (at) wait_for_quota(now);
}

/// P-110: the next look.
void PartitionContext::wait_for_quota(Instant now) {
    if (s_.preemption.quota_timer || !s_.settings.quota_checks) return;
    s_.preemption.quota_timer = now + s_.settings.quota_interval;
    s_.timers.set(*s_.preemption.quota_timer, TimerKind::QuotaCheck);
}

/// P-101, in its order. Root is armed by P-102 only.
void PartitionContext::quota_configured(Queue& queue, const Limit& before, Duration delay_before, Instant now) {
    if (queue.is_root() && takes_part(queue)) return;
    const Duration delay = queue.properties.quota_preemption_delay;
    if (!takes_part(queue) || within_max(queue.max, queue.allocated))
        set_quota_due(queue, std::nullopt, now);
    else if (queue.quota_due)
        set_quota_due(queue, *queue.quota_due + (delay - delay_before), now);
    else if (before.same_as(queue.max) ? delay_before == Duration::zero() : is_tighter(before, queue.max))
        set_quota_due(queue, now + delay, now);
}

/// P-102: usage grew without being asked.
void PartitionContext::quota_forced(Queue& leaf, Instant now) {
    if (!s_.quota_preemption_enabled) return;
    for (Queue* queue = &leaf; queue != nullptr; queue = queue->parent)
        if (takes_part(*queue) && !queue->quota_due && !within_max(queue->max, queue->allocated))
            set_quota_due(*queue, now + queue->properties.quota_preemption_delay, now);
}

// --- running
// ---------------------------------------------------------------------------------------------------------------

/// P-110.
void PartitionContext::check_quotas(Instant now) {
    s_.preemption.quota_timer.reset();
    if (s_.quota_preemption_enabled && s_.settings.quota_checks) check_quota_below(*s_.root, now);
    for (Queue* queue : s_.queues)
        if (queue != nullptr && (queue->quota_due || queue->quota_again)) wait_for_quota(now);
}

void PartitionContext::check_quota_below(Queue& queue, Instant now) {
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

/// quota.preemption.rearm: a run left usage above the max, its victims are gone, and there are others to take.
void PartitionContext::arm_quota_again(Queue& queue, Instant now) {
    if (queue.properties.quota_preemption_delay <= Duration::zero() || !queue.properties.quota_rearm) {
        queue.quota_again = false;
        return;
    }
    if (!queue.preempting.is_zero()) return;
    const std::vector<LeafTarget> leaves = distribute(queue, quota_target(queue));
    const bool any = std::any_of(leaves.begin(), leaves.end(),
                                 [this](const LeafTarget& leaf) { return !quota_victims(s_, leaf).victims.empty(); });
    if (!any) return;
    queue.quota_again = false;
    set_quota_due(queue, now + queue.properties.quota_preemption_delay, now);
}

/// P-111, P-112, P-127, P-128: one run, in one view, whatever it achieves.
void PartitionContext::run_quota(Queue& queue, Instant now) {
    queue.quota_due.reset();
    const Resource target = quota_target(queue);
    Resource claimed;
    std::size_t candidates = 0;
    std::map<std::string_view, std::vector<AllocationId>> victims; // by application
    for (const LeafTarget& leaf : distribute(queue, target)) {
        const QuotaVictims found = quota_victims(s_, leaf);
        candidates += found.candidates;
        claimed.add(found.claimed);
        for (const AllocationId id : found.victims)
            victims[s_.applications[s_.allocations[id].application].id].push_back(id);
    }
    const std::string message = "preempted by quota change in " + queue.path;
    std::size_t count = 0;
    for (const auto& [application, ids] : victims) {
        for (const AllocationId id : ids) mark_preempted(id, {}, message, now);
        count += ids.size();
    }
    for (const auto& [application, ids] : victims) announce_victims(ids, message, now);
    queue.last_quota_run = Queue::QuotaRun{now, target, claimed, candidates, count};
    queue.quota_again = queue.properties.quota_rearm && !queue.is_root();
    if (candidates == 0) return;
    const std::string outcome = "target " + s_.named(target).text() + ", claimed " + s_.named(claimed).text() + ", " +
                                std::to_string(candidates) + " candidates, " + std::to_string(count) + " victims";
    s_.tell({EventType::Queue,
             EventChange::Set,
             EventDetail::QueuePreemption,
             queue.path,
             {},
             outcome,
             &queue.max.bounds()},
            now);
}

} // namespace yk
