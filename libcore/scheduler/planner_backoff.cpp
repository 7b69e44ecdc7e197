// Asks in a leaf with back-off: each that finds no node counts, so they are walked one by one (S-345).

#include <algorithm>

#include "libcore/scheduler/headroom.h"
#include "libcore/scheduler/planner.h"

namespace yk {

/// S-345: in a leaf with back-off each ask that finds no node counts, so the asks are walked one by one. What failed
/// once fails for its equals: a group that failed the headroom is dropped and no search is made twice.
Plan Planner::try_counting(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    application.counted = true; // once in this cycle
    counted_.push_back(id);
    orders_.touch(id);
    const auto later = [this](AllocationId a, AllocationId b) {
        return order_of(s_.allocations[b]) < order_of(s_.allocations[a]);
    };
    std::vector<AllocationId> heads;
    application.groups.for_each([&](std::uint32_t group) { heads.push_back(s_.groups[GroupId{group}].head); });
    std::make_heap(heads.begin(), heads.end(), later);
    std::uint64_t unschedulable = 0;
    while (!heads.empty()) {
        if (unschedulable == application.queue->properties.backoff_count) {
            application.backoff_until = now + application.queue->properties.backoff_delay;
            application.backing_off = true;
            s_.timers.set(*application.backoff_until, TimerKind::BackOff, id.index);
            return {};
        }
        std::pop_heap(heads.begin(), heads.end(), later);
        const AllocationId ask = heads.back();
        heads.pop_back();
        const AskGroup& group = s_.groups[s_.allocations[ask].group];
        Counted outcome = group.replaceable ? Counted{} : try_counted(ask, now); // G-030
        if (outcome.plan.kind == Plan::Kind::Wait) outcome = {};                 // the others may need no call
        if (outcome.plan.is_inquiry()) application.counted = false;              // and once more with that
        if (outcome.plan) return outcome.plan;
        if (outcome.group_failed && !group.first_untouched.valid()) continue; // its equals are noted, too
        unschedulable += outcome.unschedulable ? 1U : 0U;
        if (const AllocationId next{s_.allocations[ask].place.pending.next}; next.valid()) {
            heads.push_back(next);
            std::push_heap(heads.begin(), heads.end(), later);
        }
    }
    return {};
}

Planner::Counted Planner::try_counted(AllocationId ask, Instant now) {
    const Allocation& wanted = s_.allocations[ask];
    AskGroup& group = s_.groups[wanted.group];
    const Application& application = s_.applications[wanted.application];
    const bool over_limit = s_.refusing_user_limit(application, s_.resource_of(wanted)).valid();
    if (wanted.is(Allocation::Parked)) { // a refused one was tried everywhere
        const bool refused = wanted.is(Allocation::Refused);
        return {refused && !over_limit ? attempt_counted(ask, now) : Plan{}, false, refused}; // P-020
    }
    if (over_limit) {
        notes_.note(group, ask, AskGroup::Note::User, now);
        notes_.touched(group, ask);
        return {{}, true, false};
    }
    notes_.passed_user_limit(ask, now);
    const QueueVerdict verdict = queue_verdict(s_, *application.queue, s_.shapes[wanted.shape]);
    if (verdict.queue != nullptr && verdict.quota) {
        notes_.note(group, ask, AskGroup::Note::Queue, now);
        notes_.touched(group, ask);
        return {attempt_counted(ask, now), true, false};
    }
    notes_.passed_headroom(ask, now);
    Plan plan;
    if (verdict.queue != nullptr) // a type that nobody offers is no limit: no node holds it, and so it counts
        notes_.note(group, ask, AskGroup::Note::Nodes, now);
    else
        plan = try_nodes(ask, now);
    if (!plan) plan = attempt_counted(ask, now);
    if (!plan) notes_.touched(group, ask);
    const Shape& shape = s_.shapes[wanted.shape];
    if (plan || !shape.is_pinned()) return {plan, false, true};
    const NodeId node = s_.nodes.find(shape.required_node); // S-433: only one too large for its node counts
    return {plan, false, node.valid() && !fits(s_.nodes[node].capacity, shape.resource)};
}

} // namespace yk
