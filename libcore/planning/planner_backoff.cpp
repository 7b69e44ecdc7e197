// SPDX-License-Identifier: Apache-2.0
// Step 3 in a leaf with back-off: each ask that finds no node counts, so asks are tried one by one (S-345).

#include <algorithm>

#include "libcore/planning/headroom.h"
#include "libcore/planning/planner.h"

namespace yk {

/// Tries the asks of the application in order, once in a cycle, until one passes or so many found no node that the
/// application backs off (S-345). Equal asks fail alike: a group that failed the headroom is left, and its shape, once
/// blocked, is not searched for again.
Plan Planner::try_with_backoff(ApplicationId id, Instant now) {
    Application& application = state_.applications[id];
    application.tried_this_cycle = true; // once in this cycle
    tried_with_backoff_.push_back(id);
    indexes_.mark_dirty(id);
    const auto later = [this](AllocationId a, AllocationId b) {
        return order_of(state_.allocations[b]) < order_of(state_.allocations[a]);
    };
    std::vector<AllocationId> heads;
    application.groups.for_each([&](std::uint32_t group) { heads.push_back(state_.groups[GroupId{group}].head); });
    std::make_heap(heads.begin(), heads.end(), later);
    std::uint64_t unschedulable = 0;
    while (!heads.empty()) {
        if (unschedulable == application.queue->properties.backoff_count) {
            application.backoff_until = now + application.queue->properties.backoff_delay;
            application.backing_off = true;
            state_.timers.set(*application.backoff_until, TimerKind::BackOff, id.index);
            return {};
        }
        std::pop_heap(heads.begin(), heads.end(), later);
        const AllocationId ask = heads.back();
        heads.pop_back();
        const AskGroup& group = state_.groups[state_.allocations[ask].group];
        // the real asks of a gang wait for their placeholders (G-030)
        BackoffAttempt outcome = group.replaceable ? BackoffAttempt{} : try_for_backoff(ask, now);
        if (outcome.plan.kind == Plan::Kind::Wait) outcome = {};             // other asks may need no call
        if (outcome.plan.is_inquiry()) application.tried_this_cycle = false; // and again after the call
        if (outcome.plan) return outcome.plan;
        if (outcome.group_failed && !group.first_unreported.valid()) continue; // its equals are noted already
        unschedulable += outcome.unschedulable ? 1U : 0U;
        if (const AllocationId next{state_.allocations[ask].links.pending.next}; next.valid()) {
            heads.push_back(next);
            std::push_heap(heads.begin(), heads.end(), later);
        }
    }
    return {};
}

Planner::BackoffAttempt Planner::try_for_backoff(AllocationId ask, Instant now) {
    const Allocation& wanted = state_.allocations[ask];
    AskGroup& group = state_.groups[wanted.group];
    const Application& application = state_.applications[wanted.application];
    const bool over_limit = state_.refusing_user_limit(application, state_.resource_of(wanted)).valid();
    if (wanted.is(Allocation::Parked)) { // if the RM refused all nodes, it may preempt (P-020)
        const bool refused = wanted.is(Allocation::Refused);
        return {.plan = refused && !over_limit ? attempt_with_backoff(ask, now) : Plan{}, .unschedulable = refused};
    }
    if (over_limit) {
        log_.note(group, ask, AskGroup::Note::User, now);
        log_.tried(group, ask);
        return {.plan = {}, .group_failed = true};
    }
    log_.passed_user_limit(ask, now);
    const QueueVerdict verdict = queue_verdict(state_, *application.queue, state_.shapes[wanted.shape]);
    if (verdict.queue != nullptr && verdict.quota) {
        log_.note(group, ask, AskGroup::Note::Queue, now);
        log_.tried(group, ask);
        return {.plan = attempt_with_backoff(ask, now), .group_failed = true};
    }
    log_.passed_headroom(ask, now);
    Plan plan;
    if (verdict.queue != nullptr) // a type that nobody offers is no limit: no node holds it, and so it counts
        log_.note(group, ask, AskGroup::Note::Nodes, now);
    else
        plan = try_nodes(ask, now);
    if (!plan) plan = attempt_with_backoff(ask, now);
    if (!plan) log_.tried(group, ask);
    const Shape& shape = state_.shapes[wanted.shape];
    if (plan || !shape.is_pinned()) return {.plan = plan, .unschedulable = true};
    const NodeId node = state_.nodes.find(shape.required_node); // S-433: only one too large for its node counts
    const bool too_large = node.valid() && !could_take(state_.nodes[node], shape);
    return {.plan = plan, .unschedulable = too_large};
}

} // namespace yk
