// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/placeholder_swaps.h"

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/preemption/node_space.h"

namespace yk {

void PlaceholderSwaps::give_up_too_small(const SwapPlan& plan, Instant now) noexcept {
    std::vector<AllocationId> leaving;
    for (const auto& [placeholder, ask] : plan.too_small) {
        if (!task_groups_.claim(placeholder, Allocation::Released)) continue;
        leaving.push_back(placeholder);
        const Allocation& held = state_.allocations[placeholder];
        const std::string message = "Task group '" + state_.texts.text(held.task_group) + "': ask '" +
                                    std::string{state_.allocations[ask].key.view()} + "' of " +
                                    state_.named(state_.resource_of(state_.allocations[ask])).text() +
                                    " is larger than placeholder '" + std::string{held.key.view()} + "' of " +
                                    state_.named(state_.resource_of(held)).text();
        state_.emit({EventType::Request, EventChange::None, EventDetail::None, held.key.view(),
                     state_.applications[held.application].id, message},
                    now);
    }
    notify_leaving(leaving, TerminationType::Timeout, "the placeholder is smaller than a real ask of its task group",
                   now);
}

void PlaceholderSwaps::swap(const SwapPlan& plan, Instant now) noexcept {
    YK_ASSUME(plan.swaps() && plan.ask.valid() && plan.node.valid(), "the plan names both halves and the node");
    Allocation& real = state_.allocations[plan.ask];
    Allocation& placeholder = state_.allocations[plan.placeholder];
    const bool elsewhere = plan.node != placeholder.node;
    if (elsewhere) placements_.reserve_capacity(plan.ask, plan.node);
    if (real.reservation.valid()) reservations_.drop(real.reservation, now);
    pending_asks_.take(plan.ask, now);
    task_groups_.claim(plan.placeholder, Allocation::Released); // the plan took a free one
    real.partner = plan.placeholder;
    placeholder.partner = plan.ask;
    real.mark(Allocation::Placed);
    real.mark(Allocation::InFlight);
    real.mark(Allocation::Checked, false);
    real.node = plan.node;
    real.bound = now;
    real.links.placed = {AllocationId::kNone, AllocationId::kNone};
    ++state_.applications[real.application].gang.in_flight;
    if (elsewhere) placements_.put_on_node(plan.ask, plan.node, now);
    notify_leaving({plan.placeholder}, TerminationType::PlaceholderReplaced,
                   "replaced by '" + std::string{real.key.view()} + "'", now);
}

bool PlaceholderSwaps::is_elsewhere(AllocationId real) const noexcept {
    const Allocation& half = state_.allocations[real];
    return half.node != state_.allocations[half.partner].node;
}

bool PlaceholderSwaps::can_finish(AllocationId placeholder_id) const noexcept {
    const Allocation& placeholder = state_.allocations[placeholder_id];
    if (is_elsewhere(placeholder.partner)) return true;
    NodeSpace space{state_.nodes[placeholder.node], state_.shapes[state_.allocations[placeholder.partner].shape]};
    space.take_off(placeholder_id, state_.resource_of(placeholder));
    return space.fits();
}

AllocationId PlaceholderSwaps::finish(AllocationId placeholder, EventDetail detail, Instant now) noexcept {
    const AllocationId id = state_.allocations[placeholder].partner;
    const bool elsewhere = is_elsewhere(id);
    const Instant asked = state_.allocations[placeholder].created;
    placements_.remove(placeholder, detail, now); // while it has a partner, so that it counts as replaced
    Allocation& real = state_.allocations[id];
    Application& application = state_.applications[real.application];
    real.partner = {};
    real.mark(Allocation::InFlight, false);
    real.mark(Allocation::PlaceholderUsed);
    victims_.node_changed(real.node); // it may be a victim now
    real.created = asked;
    real.bound = now;
    --application.gang.in_flight;
    placements_.grow_queues(*application.queue, state_.resource_of(real));
    if (!elsewhere) placements_.put_on_node(id, real.node, now);
    placements_.put_in_application(id, now);
    ++state_.counters.allocated;
    return id;
}

/// Takes the halves apart: the real half is on no node any more, the placeholder is still being released.
void PlaceholderSwaps::unlink_swap(AllocationId id, Instant now) noexcept {
    if (is_elsewhere(id)) placements_.take_from_node(id, now);
    Allocation& real = state_.allocations[id];
    state_.allocations[real.partner].partner = {};
    real.partner = {};
    --state_.applications[real.application].gang.in_flight;
}

void PlaceholderSwaps::undo(AllocationId id, Instant now) noexcept {
    unlink_swap(id, now);
    Allocation& real = state_.allocations[id];
    real.mark(Allocation::Placed, false);
    real.mark(Allocation::InFlight, false);
    real.node = {};
    real.bound = {};
    pending_asks_.add(id, now);
}

void PlaceholderSwaps::cancel(AllocationId id, bool timed_out, Instant now) noexcept {
    unlink_swap(id, now);
    pending_asks_.emit_request_removed(id, timed_out, now);
    pending_asks_.destroy(id);
}

std::vector<AllocationId> PlaceholderSwaps::in_flight_of(const Application& application) const noexcept {
    std::vector<AllocationId> halves;
    if (application.gang.in_flight == 0) return halves;
    for (const AllocationId id : application.allocations)
        if (const AllocationId real = state_.allocations[id].partner; real.valid()) halves.push_back(real);
    std::sort(halves.begin(), halves.end(), [this](AllocationId a, AllocationId b) {
        return order_of(state_.allocations[a]) < order_of(state_.allocations[b]);
    });
    return halves;
}

void PlaceholderSwaps::notify_leaving(std::vector<AllocationId> leaving, TerminationType type, std::string_view message,
                                      Instant now) noexcept {
    if (leaving.empty()) return;
    std::sort(leaving.begin(), leaving.end(), [this](AllocationId a, AllocationId b) {
        return state_.allocations[a].key.view() < state_.allocations[b].key.view();
    });
    std::vector<ReleasedAllocation> released;
    for (const AllocationId id : leaving) {
        const Allocation& each = state_.allocations[id];
        released.push_back(
            {state_.full_name, state_.applications[each.application].id, each.key.view(), type, message});
        unconfirmed_releases_.expect(id, type, now);
    }
    state_.callbacks.allocations_released(released);
}

} // namespace yk
