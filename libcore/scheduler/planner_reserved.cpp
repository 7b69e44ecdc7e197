// Step 1 of a cycle: reservations that can be fulfilled, those that wait, those that are over age (S-410 to S-413).

#include "libcore/scheduler/headroom.h"
#include "libcore/scheduler/planner.h"
#include "libcore/scheduler/walk.h"

namespace yk {

Plan Planner::plan_reserved(Instant now) {
    wake_aged();
    while (true) {
        orders_.refresh();
        ApplicationId found;
        Walk{s_.applications}.run(*s_.root, Masks{0, kReservedBit}, true,
                                  [&found](Application&, ApplicationId id, const Masks&) {
                                      found = id;
                                      return true;
                                  });
        if (!found.valid()) return {};
        if (hold_without_slot(found)) continue;
        if (Plan plan = try_reservations(found, now)) return plan;
    }
}

/// S-411, S-412. What cannot be fulfilled is stalled until something changes in its favour (Orders::wake).
Plan Planner::try_reservations(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    std::vector<ReservationId> failed;
    for (const ReservationId held : application.reservations) { // each on its own node
        const Reservation& reservation = s_.reservations[held];
        if (reservation.stalled || stalled_by_limit(held, now)) continue;
        if (Plan eviction = try_evicting(held, now)) return eviction;
        if (s_.allocations[reservation.ask].is(Allocation::Parked)) {
            stall(held, false); // until its RM has answered
            continue;
        }
        const bool usable = s_.nodes[reservation.node].schedulable || is_pinned(held);
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

/// A limit of its user, its group or a queue does not allow the ask now. Over age, it goes (S-413).
bool Planner::stalled_by_limit(ReservationId held, Instant now) {
    const Reservation& reservation = s_.reservations[held];
    const Application& application = s_.applications[reservation.application];
    const Shape& wanted = s_.shapes[s_.allocations[reservation.ask].shape];
    if (!s_.refusing_user_limit(application, wanted.resource).valid() &&
        queue_verdict(s_, *application.queue, wanted).queue == nullptr)
        return false;
    stall(held, true);
    const bool over_age = now - reservation.since > s_.settings.reservation_timeout;
    if (over_age && !is_pinned(held)) to_drop_.push_back({held, reservation.sequence});
    return true;
}

/// On any node but its own, which cannot take it.
Plan Planner::plan_elsewhere(ReservationId held) {
    const AllocationId ask = s_.reservations[held].ask;
    const ShapeId shape = s_.allocations[ask].shape;
    if (s_.calls.options.predicates) return unless_waiting(held, try_elsewhere(ask));
    if (is_pinned(held) || s_.shapes[shape].blocked) return {};
    const NodeId node = s_.nodes.find_first(shape);
    if (node.valid()) return {Plan::Kind::Allocate, ask, node};
    s_.shapes.block(shape);
    return {};
}

/// S-413: what is over age goes as soon as its headroom does not allow it, so it is looked at in every cycle.
void Planner::wake_aged() {
    auto& aged = s_.aged;
    const auto gone = [this](const PartitionState::Aged& each) {
        return !s_.reservations.alive(each.id) || s_.reservations[each.id].sequence != each.sequence;
    };
    aged.erase(std::remove_if(aged.begin(), aged.end(), gone), aged.end());
    for (const PartitionState::Aged& each : aged) orders_.wake(each.id);
}

void Planner::stall(ReservationId id, bool by_headroom) {
    Reservation& reservation = s_.reservations[id];
    reservation.stalled = true;
    reservation.by_headroom = by_headroom;
    s_.stalled_by_headroom += by_headroom ? 1U : 0U;
    orders_.touch(reservation.application);
}

} // namespace yk
