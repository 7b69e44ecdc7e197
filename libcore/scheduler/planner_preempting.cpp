// When an ask may look for victims: attempts of queue preemption in their place in the order (P-020 to P-024), and of a
// required-node ask for the node that it has reserved (P-093, P-097).

#include <algorithm>

#include "libcore/scheduler/headroom.h"
#include "libcore/scheduler/planner.h"
#include "libcore/scheduler/stage.h"

namespace yk {

namespace {

constexpr Duration kLeastWait = std::chrono::milliseconds{100}; // between two events of one ask

} // namespace

/// Point A or B of P-020; nullopt: neither.
std::optional<bool> Planner::nodes_tried(const Allocation& ask) const {
    const QueueVerdict verdict = queue_verdict(s_, *s_.applications[ask.application].queue, s_.shapes[ask.shape]);
    if (verdict.queue == nullptr) return true;
    if (verdict.quota) return false;
    return std::nullopt;
}

/// The group's asks that may attempt a preemption now, those in front of `before` only when there is one.
Plan Planner::try_preempting(GroupId id, AllocationId before, Instant now) {
    const Application& application = s_.applications[s_.groups[id].application];
    if (const UsageNodeId at = s_.refusing_user_limit(application, s_.shapes[s_.groups[id].shape].resource);
        at.valid()) {
        orders_.hold(id, at); // P-020: an ask beyond the user headroom never attempts
        return {};
    }
    while (true) {
        const AllocationId ask = checks_.next(id, now);
        if (!ask.valid()) break;
        if (before.valid() && !(order_of(s_.allocations[ask]) < order_of(s_.allocations[before]))) return {};
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

/// One attempt (P-024); nullopt: the leaf's budget is used up.
std::optional<Plan> Planner::attempt(AllocationId id, Instant now) {
    const Allocation& ask = s_.allocations[id];
    const Queue* leaf = s_.applications[ask.application].queue;
    const std::optional<bool> tried = nodes_tried(ask);
    const bool asks = s_.calls.options.preemption_predicates;
    if (asks && s_.calls.full()) return std::nullopt;
    if (!checks_.begin(id, now)) {
        s_.preemption.log(id, PreemptionResult::Exhausted, now);
        return std::nullopt;
    }
    if (!tried) return Plan{};
    if (asks) return begin_offering(id, *tried, now);
    auto same = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& each) {
        return each.leaf == leaf && each.shape == ask.shape && each.priority == ask.priority;
    });
    if (same == failures_.end() || ask.reservation.valid()) { // its own reservation makes a difference
        const StageScope stage{s_.observer, Stage::Preempt};
        PreemptionPlan plan = preemption_.plan_queue(id, *tried, now);
        if (plan) {
            note_attempt(id, std::move(plan.attempt), now);
            return taking(Plan::Kind::Preempt, id, std::move(plan));
        }
        same = failures_.insert(failures_.end(), {leaf, ask.shape, ask.priority, std::move(plan.attempt)});
    }
    note_attempt(id, same->attempt, now);
    return Plan{};
}

Plan Planner::taking(Plan::Kind kind, AllocationId ask, PreemptionPlan plan) {
    victims_ = std::move(plan.victims);
    return {kind, ask, plan.node};
}

void Planner::note_attempt(AllocationId ask, PreemptionAttempt attempt, Instant now) {
    if (attempt.result != PreemptionResult::Victims) s_.preemption.log(ask, attempt.result, now);
    s_.preemption.attempts[ask] = std::move(attempt);
}

/// P-020 for an ask of a leaf with back-off.
Plan Planner::attempt_counted(AllocationId ask, Instant now) {
    const GroupId group = s_.allocations[ask].group;
    if (!s_.groups[group].checks) return {};
    if (!checks_.is_due(s_.allocations[ask], now)) {
        s_.preemption.log(ask, PreemptionResult::Preconditions, now);
        return {};
    }
    std::optional<Plan> plan = attempt(ask, now);
    checks_.update(group, now);
    return plan.value_or(Plan{});
}

/// P-093: a required-node ask that its node has no room for chooses victims, once.
Plan Planner::try_evicting(ReservationId id, Instant now) {
    const Reservation& reservation = s_.reservations[id];
    const Allocation& ask = s_.allocations[reservation.ask];
    const bool wanted = is_pinned(id) && !ask.is(Allocation::Triggered) &&
                        !fits(s_.nodes[reservation.node].available, s_.resource_of(ask));
    if (!wanted) return {};
    const StageScope stage{s_.observer, Stage::Preempt};
    PreemptionPlan plan = preemption_.plan_required(reservation.ask, now);
    s_.preemption.attempts[reservation.ask] = std::move(plan.attempt);
    if (!plan) tell_no_victim(reservation.ask, now);
    if (plan.victims.empty()) return {};
    return taking(Plan::Kind::Evict, reservation.ask, std::move(plan));
}

/// P-097.
void Planner::tell_no_victim(AllocationId id, Instant now) {
    s_.preemption.log(id, PreemptionResult::NoVictim, now);
    const auto [told, first] = s_.preemption.no_victim_told.try_emplace(id, now);
    if (!first && now < told->second + s_.settings.preemption_throttle) return;
    told->second = now;
    const Allocation& ask = s_.allocations[id];
    const Duration again = std::max<Duration>(s_.settings.preemption_throttle, kLeastWait);
    s_.timers.set(now + again, TimerKind::NoVictim, ask.reservation.index, s_.reservations[ask.reservation].sequence);
    const std::string message = "Unschedulable request '" + std::string{ask.key.view()} + "' with required node '" +
                                s_.shapes[ask.shape].required_node + "', no preemption victim found";
    s_.tell({EventType::Request, EventChange::None, EventDetail::None, ask.key.view(),
             s_.applications[ask.application].id, message, &s_.resource_of(ask)},
            now);
}

} // namespace yk
