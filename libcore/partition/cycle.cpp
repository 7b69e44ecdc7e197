// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/cycle.h"

#include <algorithm>

namespace yk {

/// The scheduling cycle (S-300): reservations, then gangs, then the asks in order; at most one placement.
CycleOutcome Cycle::run(Instant now) {
    CycleOutcome outcome;
    if (state_.state == ObjectState::Stopped || state_.queues.root().max.unlimited() || state_.pending_asks == 0)
        return outcome;
    // here, and not when somebody looks, since runs are replayed
    if (ShapeBoards* const boards = state_.nodes.boards(); boards != nullptr && state_.expected.has_changed())
        boards->set_workload(state_.expected.make(state_.nodes, state_.resources));
    indexes_.begin_cycle();
    reservation_delays_.look_at_all(now);
    planner_.begin_cycle(now);
    if (!state_.inquiries.by_ask.empty()) parked_asks_.wake(now);
    if (state_.reservations.size() > 0) {
        Plan plan = plan_reserved(now);
        for (; plan.kind == Plan::Kind::Evict; plan = plan_reserved(now)) { // places nothing (P-093)
            commit_victims(plan, now);
            ++outcome.changes;
        }
        outcome.allocations = execute(plan, now) ? 1 : 0;
    }
    if (outcome.allocations == 0 && replace_one(now)) outcome.allocations = 1;
    if (outcome.allocations > 0) {
        outcome.changes += drop_planned(now);
        return outcome;
    }
    const Plan plan = plan_regular(now);
    outcome.allocations = execute(plan, now) ? 1 : 0;
    outcome.changes += drop_planned(now) + (plan && plan.kind != Plan::Kind::Allocate ? 1 : 0);
    if (!plan) {
        attempt_log_.note_passed_over(now);
        application_states_.emit_runnable_flags(now);
    }
    return outcome;
}

[[gnu::hot]] bool Cycle::replace_one(Instant now) {
    if (state_.placeholder_count == 0) return false;
    while (true) {
        const ApplicationId id = gang_planner_.find();
        if (!id.valid()) return false;
        const SwapPlan plan = gang_planner_.plan(state_.applications[id]);
        if (!plan.too_small.empty()) placeholder_swaps_.give_up_too_small(plan, now);
        if (plan.swaps()) {
            placeholder_swaps_.swap(plan, now);
            return true;
        }
        if (!plan.too_small.empty()) continue;
        if (!plan.to_ask.empty() && !state_.calls.full()) {
            inquirer_.call_predicates(plan.ask, plan.to_ask, true, now);
            continue;
        }
        state_.inquiries.slotless_gangs = state_.inquiries.slotless_gangs || !plan.to_ask.empty();
        if (plan.to_ask.empty() && !plan.waiting && state_.calls.options.predicates) inquirer_.rest_gang(id, now);
        indexes_.stall_gang(id);
    }
}

Plan Cycle::plan_reserved(Instant now) {
    while (true) {
        Plan plan = planner_.plan_reserved(now);
        if (!plan.is_inquiry()) return plan;
        inquirer_.inquire(plan, now);
    }
}

[[gnu::hot]] Plan Cycle::plan_regular(Instant now) {
    while (true) {
        Plan plan = planner_.plan_regular(now);
        if (!plan.is_inquiry()) return plan;
        inquirer_.inquire(plan, now);
    }
}

bool Cycle::commit_victims(const Plan& plan, Instant now) {
    const auto leaves = [this](AllocationId id) {
        return !state_.allocations[id].is(Allocation::Preempted) && !state_.allocations[id].is(Allocation::Released);
    };
    const std::vector<AllocationId>& victims = planner_.victims();
    if (!std::all_of(victims.begin(), victims.end(), leaves)) {
        state_.preemption.log(plan.ask, PreemptionResult::Released, now);
        state_.preemption.attempts[plan.ask].result = PreemptionResult::Released;
        return false;
    }
    const Allocation& ask = state_.allocations[plan.ask];
    const Application& owner = state_.applications[ask.application];
    const std::string by = std::string{ask.key.view()} + " from application " + owner.id + " in " + owner.queue->path;
    for (const AllocationId victim : victims) victim_marks_.mark(victim, plan.ask, "Preempted by " + by, now);
    if (plan.kind == Plan::Kind::Preempt) {
        victim_marks_.count_victims(*owner.queue, victims.size(), now);
        if (ask.reservation.valid() && state_.reservations[ask.reservation].node != plan.node)
            reservations_.drop(ask.reservation, now); // it reserves the node of its victims instead (P-021)
        const std::vector<ReservationId> held = state_.nodes[plan.node].reservations;
        for (const ReservationId id : held)
            if (id != ask.reservation) reservations_.drop(id, now); // only stale ones are left there (P-050)
        if (!ask.reservation.valid()) reservations_.make(plan.ask, plan.node, now);
    }
    victim_marks_.begin_trigger(plan.ask, victims);
    checks_.update(ask.group, now);
    victim_marks_.announce(victims, "preempted for allocation key " + by, now);
    return true;
}

[[gnu::hot]] bool Cycle::execute(const Plan& plan, Instant now) {
    if (!plan) return false;
    const Allocation& ask = state_.allocations[plan.ask];
    const ApplicationId owner = ask.application;
    placements_.reserve_capacity(plan.ask, plan.node);
    application_states_.emit_runnable(owner, true, true, now);
    // other asks do not keep the node from one that requires it (S-432)
    if (state_.shapes[ask.shape].is_pinned()) reservations_.drop_ordinary(plan.node, now);
    const bool allocate = plan.kind == Plan::Kind::Allocate;
    if (!allocate && ask.is(Allocation::Parked)) parked_asks_.begin_round(plan.ask, now);
    if (allocate)
        placements_.place(plan.ask, plan.node, true, now);
    else if (plan.kind == Plan::Kind::Preempt)
        commit_victims(plan, now);
    else
        reservations_.make(plan.ask, plan.node, now);
    Application& application = state_.applications[owner];
    if (application.state == ApplicationState::Accepted) { // it starts to run (S-262)
        application_states_.set_allocating(application, true);
        indexes_.mark_dirty(owner);
    }
    return allocate;
}

[[gnu::hot]] std::uint32_t Cycle::drop_planned(Instant now) {
    std::uint32_t dropped = 0;
    for (const Ref<Reservation>& each : planner_.to_drop()) {
        if (state_.reservations.find(each) == nullptr) continue;
        reservations_.drop(each.id, now);
        ++dropped;
    }
    planner_.forget_drops();
    return dropped;
}

} // namespace yk
