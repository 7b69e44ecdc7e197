// SPDX-License-Identifier: Apache-2.0
// When an ask may look for victims: queue preemption, in the order of asks (P-020 to P-024), and preemption on the
// required node that an ask has reserved (P-093, P-097).

#include <algorithm>

#include "libcore/planning/headroom.h"
#include "libcore/planning/planner.h"
#include "libcore/ports/cycle.h"

namespace yk {

namespace {

constexpr Duration kLeastWait = std::chrono::milliseconds{100}; // between two events of one ask

} // namespace

/// Where queue preemption begins: false: the headroom of a queue refuses the ask, so no node was searched (point A);
/// true: the search found no node (point B); nullopt: neither, the ask may not preempt (P-020).
std::optional<bool> Planner::nodes_tried(const Allocation& ask) const {
    const QueueVerdict verdict =
        queue_verdict(state_, *state_.applications[ask.application].queue, state_.shapes[ask.shape]);
    if (verdict.queue == nullptr) return true;
    if (verdict.quota) return false;
    return std::nullopt;
}

/// Lets the group's asks that are due attempt a preemption, in order; if `before` is valid, only those before it.
Plan Planner::try_preempting(GroupId id, AllocationId before, Instant now) {
    const Application& application = state_.applications[state_.groups[id].application];
    if (const UsageNodeId at = state_.refusing_user_limit(application, state_.shapes[state_.groups[id].shape].resource);
        at.valid()) {
        indexes_.hold(id, at); // an ask beyond the user headroom never attempts (P-020)
        return {};
    }
    while (true) {
        const AllocationId ask = checks_.next(id, now);
        if (!ask.valid()) break;
        if (before.valid() && !(order_of(state_.allocations[ask]) < order_of(state_.allocations[before]))) return {};
        std::optional<Plan> plan = attempt(ask, now);
        if (!plan) {
            checks_.put_off(id, now);
            return {};
        }
        if (*plan) return *plan;
    }
    checks_.update(id, now);
    return {};
}

/// One attempt; nullopt: the leaf's budget of attempts in this cycle is used up, or no call is free (P-022, P-024).
std::optional<Plan> Planner::attempt(AllocationId id, Instant now) {
    const Allocation& ask = state_.allocations[id];
    const Queue* leaf = state_.applications[ask.application].queue;
    const std::optional<bool> tried = nodes_tried(ask);
    const bool asks = state_.calls.options.preemption_predicates;
    if (asks && state_.calls.full()) return std::nullopt;
    if (!checks_.begin(id, now)) {
        state_.preemption.log(id, PreemptionResult::Exhausted, now);
        return std::nullopt;
    }
    if (!tried) return Plan{};
    if (asks) return begin_offering(id, *tried, now);
    auto same = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& each) {
        return each.leaf == leaf && each.shape == ask.shape && each.priority == ask.priority;
    });
    if (same == failures_.end() || ask.reservation.valid()) { // its own reservation makes it unlike others
        const StageScope stage{state_.observer, Stage::Preempt};
        PreemptionPlan plan = preemption_.plan_queue(id, *tried, now);
        if (plan) {
            note_attempt(id, std::move(plan.attempt), now);
            return plan_with_victims(Plan::Kind::Preempt, id, std::move(plan));
        }
        same = failures_.insert(failures_.end(), {leaf, ask.shape, ask.priority, std::move(plan.attempt)});
    }
    note_attempt(id, same->attempt, now);
    return Plan{};
}

Plan Planner::plan_with_victims(Plan::Kind kind, AllocationId ask, PreemptionPlan plan) {
    victims_ = std::move(plan.victims);
    return {kind, ask, plan.node};
}

void Planner::note_attempt(AllocationId ask, PreemptionAttempt attempt, Instant now) {
    if (attempt.result != PreemptionResult::Victims) state_.preemption.log(ask, attempt.result, now);
    state_.preemption.attempts[ask] = std::move(attempt);
}

/// An attempt of an ask in a leaf with back-off (P-020).
Plan Planner::attempt_with_backoff(AllocationId ask, Instant now) {
    const GroupId group = state_.allocations[ask].group;
    if (!state_.groups[group].checks) return {};
    if (!checks_.is_due(state_.allocations[ask], now)) {
        state_.preemption.log(ask, PreemptionResult::Preconditions, now);
        return {};
    }
    std::optional<Plan> plan = attempt(ask, now);
    checks_.update(group, now);
    return plan.value_or(Plan{});
}

/// An ask that does not fit on its required node, which it has reserved, chooses victims there, once (P-093).
Plan Planner::try_evicting(ReservationId id, Instant now) {
    const Reservation& reservation = state_.reservations[id];
    const Allocation& ask = state_.allocations[reservation.ask];
    const bool wanted = is_pinned(id) && !ask.is(Allocation::Triggered) &&
                        !takes(state_.nodes[reservation.node], state_.shapes[ask.shape]);
    if (!wanted) return {};
    const StageScope stage{state_.observer, Stage::Preempt};
    PreemptionPlan plan = preemption_.plan_required(reservation.ask, now);
    state_.preemption.attempts[reservation.ask] = std::move(plan.attempt);
    if (!plan) emit_no_victim(reservation.ask, now);
    if (plan.victims.empty()) return {};
    return plan_with_victims(Plan::Kind::Evict, reservation.ask, std::move(plan));
}

/// Logs that no victim was found on the required node, and emits it at most once per throttle interval and ask. A
/// timer brings the next attempt (P-097).
void Planner::emit_no_victim(AllocationId id, Instant now) {
    state_.preemption.log(id, PreemptionResult::NoVictim, now);
    const auto [emitted, first] = state_.preemption.no_victim_emitted.try_emplace(id, now);
    if (!first && now < emitted->second + state_.settings.preemption_throttle) return;
    emitted->second = now;
    const Allocation& ask = state_.allocations[id];
    const Duration again = std::max<Duration>(state_.settings.preemption_throttle, kLeastWait);
    state_.timers.set(now + again, TimerKind::NoVictim, state_.reservations.ref(ask.reservation));
    const std::string message = "Unschedulable request '" + std::string{ask.key.view()} + "' with required node '" +
                                state_.shapes[ask.shape].required_node + "', no preemption victim found";
    state_.emit({EventType::Request, EventChange::None, EventDetail::None, ask.key.view(),
                 state_.applications[ask.application].id, message, &state_.resource_of(ask)},
                now);
}

} // namespace yk
