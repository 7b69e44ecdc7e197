// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/preemption_checks.h"

#include <algorithm>

#include "libcore/base/check.h"

namespace yk {

namespace {

constexpr std::uint32_t kBudget = 10; // attempts of a leaf in one cycle (P-022)
constexpr Duration kNextCycle = std::chrono::milliseconds{100};

bool is_candidate(const Allocation& ask) {
    const bool waits = ask.is(Allocation::Parked) && !ask.is(Allocation::Refused); // its nodes are not all tried
    return ask.is(Allocation::PreemptOther) && !ask.is(Allocation::Triggered) && !waits;
}

} // namespace

bool PreemptionChecks::may_ever(const AskGroup& group) const noexcept {
    if (group.preemptors == 0 || !state_.preemption_enabled || state_.shapes[group.shape].is_pinned()) return false;
    const Resource& size = state_.shapes[group.shape].resource;
    for (const Queue* queue = state_.applications[group.application].queue; queue != nullptr; queue = queue->parent)
        if (queue->guaranteed && (queue->guaranteed->types() & size.types()) != 0) return true;
    return false;
}

void PreemptionChecks::joined(AllocationId ask, Instant now) noexcept {
    const Allocation& object = state_.allocations[ask];
    if (!object.is(Allocation::PreemptOther)) return;
    AskGroup& group = state_.groups[object.group];
    ++group.preemptors;
    if (group.checks &&
        (!group.checks->next.valid() || order_of(object) < order_of(state_.allocations[group.checks->next])))
        group.checks->next = ask;
    update(object.group, now);
}

void PreemptionChecks::leaving(AllocationId ask) noexcept {
    const Allocation& object = state_.allocations[ask];
    AskGroup& group = state_.groups[object.group];
    if (object.is(Allocation::PreemptOther)) --group.preemptors;
    if (group.checks && group.checks->next == ask) group.checks->next = {object.links.pending.next};
}

void PreemptionChecks::changed(AllocationId ask, Instant now) noexcept {
    const Allocation& object = state_.allocations[ask];
    AskGroup& group = state_.groups[object.group];
    if (group.checks) group.checks->next = group.head; // next() skips throttled asks again
    update(object.group, now);
}

/// When the ask may attempt again: later than now, so that no ask attempts twice in one walk.
Instant PreemptionChecks::throttled_until(const Allocation& ask) const noexcept {
    return ask.bound + std::max(state_.settings.preemption_throttle, Duration{1});
}

bool PreemptionChecks::is_throttled(const Allocation& ask, Instant now) const noexcept {
    return ask.is(Allocation::Checked) && now < throttled_until(ask);
}

bool PreemptionChecks::is_due(const Allocation& ask, Instant now) const noexcept {
    return state_.preemption_enabled && is_candidate(ask) && !state_.shapes[ask.shape].is_pinned() &&
           !is_throttled(ask, now) &&
           now >= ask.created + state_.applications[ask.application].queue->properties.preemption_delay;
}

AllocationId PreemptionChecks::next(GroupId id, Instant now) {
    AskGroup& group = state_.groups[id];
    YK_ASSUME(group.checks != nullptr, "only a group whose asks may preempt has a next one");
    GroupChecks& checks = *group.checks;
    if (checks.again && *checks.again <= now) { // those checked first may be checked again
        checks.next = group.head;
        checks.again.reset();
    }
    const Duration delay = state_.applications[group.application].queue->properties.preemption_delay;
    while (checks.next.valid()) {
        const Allocation& ask = state_.allocations[checks.next];
        if (is_candidate(ask) && !is_throttled(ask, now))
            return now >= ask.created + delay ? checks.next : AllocationId{}; // the others are younger
        if (is_candidate(ask)) {
            const Instant at = throttled_until(ask);
            checks.again = checks.again ? std::min(*checks.again, at) : at;
        }
        checks.next = {ask.links.pending.next};
    }
    return {};
}

void PreemptionChecks::update(GroupId id, Instant now) noexcept {
    AskGroup& group = state_.groups[id];
    if (!may_ever(group)) {
        if (!group.checks) return;
        group.checks.reset();
        indexes_.mark_dirty(id);
        return;
    }
    if (!group.checks) {
        group.checks = std::make_unique<GroupChecks>();
        group.checks->next = group.head;
    }
    GroupChecks& checks = *group.checks;
    const bool was = checks.due;
    checks.due = next(id, now).valid();
    if (checks.due != was) indexes_.mark_dirty(id);
    if (checks.due) return;
    std::optional<Instant> at = checks.again;
    if (checks.next.valid()) {
        const Instant old_enough = state_.allocations[checks.next].created +
                                   state_.applications[group.application].queue->properties.preemption_delay;
        at = at ? std::min(*at, old_enough) : old_enough;
    }
    if (!at || (checks.timer && *checks.timer > now && *checks.timer <= *at)) return;
    checks.timer = at;
    state_.timers.set(*at, TimerKind::PreemptionCheck, id.index);
}

void PreemptionChecks::update_all(Instant now) noexcept {
    state_.groups.for_each([&](GroupId id) {
        if (state_.groups[id].preemptors == 0) return;
        state_.groups[id].checks.reset();
        update(id, now);
        indexes_.mark_dirty(id);
    });
}

bool PreemptionChecks::begin(AllocationId id, Instant now) {
    Allocation& ask = state_.allocations[id];
    Queue& leaf = *state_.applications[ask.application].queue;
    if (leaf.attempts_cycle != state_.preemption.cycle) {
        leaf.attempts_cycle = state_.preemption.cycle;
        leaf.attempts = 0;
    }
    if (leaf.attempts == kBudget) return false;
    ++leaf.attempts;
    ask.mark(Allocation::Checked);
    ask.bound = now;
    return true;
}

void PreemptionChecks::put_off(GroupId id, Instant now) {
    YK_ASSUME(state_.groups[id].checks != nullptr, "only a group whose asks may preempt is put off");
    state_.groups[id].checks->due = false;
    if (!state_.preemption.next_cycle || *state_.preemption.next_cycle <= now) { // wakes the scheduler (S-304)
        state_.preemption.next_cycle = now + kNextCycle;
        state_.timers.set(*state_.preemption.next_cycle, TimerKind::PreemptionCheck, id.index);
    }
    indexes_.mark_dirty(id);
    state_.preemption.exhausted[state_.applications[state_.groups[id].application].queue->index].push_back(id);
}

void PreemptionChecks::begin_cycle(Instant now) {
    ++state_.preemption.cycle;
    auto& exhausted = state_.preemption.exhausted;
    for (auto leaf = exhausted.begin(); leaf != exhausted.end();) {
        for (std::uint32_t i = 0; i < kBudget && !leaf->second.empty(); ++i) { // more cannot attempt in a cycle
            const GroupId id = leaf->second.front();
            leaf->second.pop_front();
            if (state_.groups.alive(id)) update(id, now);
        }
        leaf = leaf->second.empty() ? exhausted.erase(leaf) : std::next(leaf);
    }
}

} // namespace yk
