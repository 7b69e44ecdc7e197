// SPDX-License-Identifier: Apache-2.0
// Step 1 of a cycle: reservations that can be fulfilled, those that wait, those that are too old (S-410 to S-413).

#include "libcore/planning/headroom.h"
#include "libcore/planning/planner.h"
#include "libcore/state/walk.h"

namespace yk {

Plan Planner::plan_reserved(Instant now) {
    wake_aged();
    while (true) {
        indexes_.refresh();
        ApplicationId found;
        Walk{state_.applications}.run(state_.queues.root(), Masks{0, kReservedBit}, true,
                                      [&found](Application&, ApplicationId id, const Masks&) {
                                          found = id;
                                          return true;
                                      });
        if (!found.valid()) return {};
        if (hold_without_slot(found)) continue;
        if (Plan plan = try_reservations(found, now)) return plan;
    }
}

/// Tries the application's reservations, each on its own node, then on other nodes. One that cannot be fulfilled is
/// stalled until something changes in its favour, see SchedulingIndexes::wake() (S-411, S-412).
Plan Planner::try_reservations(ApplicationId id, Instant now) {
    Application& application = state_.applications[id];
    std::vector<ReservationId> failed;
    for (const ReservationId held : application.reservations) { // each on its own node
        const Reservation& reservation = state_.reservations[held];
        if (reservation.stalled || stalled_by_limit(held, now)) continue;
        if (Plan eviction = try_evicting(held, now)) return eviction;
        if (state_.allocations[reservation.ask].is(Allocation::Parked)) {
            stall(held, false); // until its RM has answered
            continue;
        }
        const bool usable = state_.nodes[reservation.node].schedulable || is_pinned(held);
        if (usable && can_take(reservation.node, reservation.ask))
            if (Plan plan = unless_waiting(held, checked({Plan::Kind::Allocate, reservation.ask, reservation.node})))
                return plan;
        failed.push_back(held);
    }
    for (const ReservationId held : failed)
        if (Plan plan = plan_elsewhere(held)) return plan;
    for (const ReservationId held : failed) stall(held, false);
    return {};
}

/// Stalls the reservation if a limit of a user, group or queue does not allow the ask now. If it is too old as well, it
/// is to be dropped (S-413).
bool Planner::stalled_by_limit(ReservationId held, Instant now) {
    const Reservation& reservation = state_.reservations[held];
    const Application& application = state_.applications[reservation.application];
    const Shape& wanted = state_.shapes[state_.allocations[reservation.ask].shape];
    if (!state_.refusing_user_limit(application, wanted.resource).valid() &&
        queue_verdict(state_, *application.queue, wanted).queue == nullptr)
        return false;
    stall(held, true);
    const bool over_age = now - reservation.since > state_.settings.reservation_timeout;
    if (over_age && !is_pinned(held)) to_drop_.push_back(state_.reservations.ref(held));
    return true;
}

/// Looks for another node for a reserved ask that its own node cannot take.
Plan Planner::plan_elsewhere(ReservationId held) {
    const AllocationId ask = state_.reservations[held].ask;
    const ShapeId shape = state_.allocations[ask].shape;
    if (state_.calls.options.predicates) return unless_waiting(held, try_elsewhere(ask));
    if (is_pinned(held) || state_.shapes[shape].blocked) return {};
    const NodeId node = state_.nodes.find_first(shape);
    if (node.valid()) return {Plan::Kind::Allocate, ask, node};
    state_.shapes.block(shape);
    return {};
}

/// Reservations that are too old are dropped as soon as a headroom does not allow them, so each cycle looks at all of
/// them (S-413).
void Planner::wake_aged() {
    state_.aged.forget_gone();
    state_.aged.for_each([this](ReservationId each) { indexes_.wake(each); });
}

void Planner::stall(ReservationId id, bool by_headroom) {
    Reservation& reservation = state_.reservations[id];
    reservation.stalled = true;
    reservation.by_headroom = by_headroom;
    state_.stalled_by_headroom += by_headroom ? 1U : 0U;
    indexes_.mark_dirty(reservation.application);
}

} // namespace yk
