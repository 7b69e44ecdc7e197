// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/reservations.h"

#include <algorithm>

#include "libcore/base/check.h"

namespace yk {

namespace {

template <class T>
void take_out(std::vector<T>& list, T value) {
    list.erase(std::find(list.begin(), list.end(), value)); // keeps the order: oldest first (S-410)
}

} // namespace

void Reservations::make(AllocationId ask_id, NodeId node_id, Instant now) noexcept {
    Allocation& ask = state_.allocations[ask_id];
    YK_ASSUME(!ask.reservation.valid(), "an ask has one reservation at most");
    Application& application = state_.applications[ask.application];
    Node& node = state_.nodes[node_id];
    const ReservationId id = state_.reservations.make();
    state_.reservations[id] = {ask_id, ask.application, node_id, now, state_.next_token++, false, false};
    ask.reservation = id;
    application.reservations.push_back(id);
    node.reservations.push_back(id);
    ++application.queue->reserved_applications[ask.application];
    state_.shapes[ask.shape].reserved.push_back(ask_id);
    group_freedom_changed(state_.groups[ask.group], ask_id, state_.allocations);
    reservation_delays_.update(ask.group, now);
    indexes_.mark_dirty(ask.group);
    indexes_.mark_dirty(ask.application);
    state_.nodes.mark_dirty(node_id, false);
    state_.timers.set(now + state_.settings.reservation_timeout + Duration{1}, TimerKind::ReservationAge,
                      state_.reservations.ref(id));
    state_.emit({EventType::Node,
                 EventChange::Add,
                 EventDetail::NodeReservation,
                 node.id,
                 ask.key.view(),
                 {},
                 &state_.resource_of(ask)},
                now);
}

void Reservations::unlist(AllocationId ask) noexcept {
    take_out(state_.shapes[state_.allocations[ask].shape].reserved, ask);
}

void Reservations::drop(ReservationId id, Instant now) noexcept {
    const Reservation dropped = state_.reservations[id];
    Allocation& ask = state_.allocations[dropped.ask];
    Application& application = state_.applications[dropped.application];
    Node& node = state_.nodes[dropped.node];
    if (dropped.by_headroom) --state_.stalled_by_headroom;
    ask.reservation = {};
    take_out(application.reservations, id);
    take_out(node.reservations, id);
    auto& counts = application.queue->reserved_applications;
    if (--counts[dropped.application] == 0) counts.erase(dropped.application);
    unlist(dropped.ask);
    state_.reservations.destroy(id);
    // it loses the node for which the victims were chosen (P-079)
    if (ask.is(Allocation::Triggered) && ask.group.valid()) victim_marks_.end_trigger(dropped.ask, false, now);
    if (ask.group.valid()) {
        group_freedom_changed(state_.groups[ask.group], dropped.ask, state_.allocations);
        reservation_delays_.update(ask.group, now);
        indexes_.mark_dirty(ask.group);
    }
    indexes_.mark_dirty(dropped.application);
    state_.nodes.mark_dirty(dropped.node, true);
    state_.emit({EventType::Node,
                 EventChange::Remove,
                 EventDetail::NodeReservation,
                 node.id,
                 ask.key.view(),
                 {},
                 &state_.resource_of(ask)},
                now);
}

void Reservations::drop_ordinary(NodeId node, Instant now) noexcept {
    const std::vector<ReservationId> held = state_.nodes[node].reservations;
    for (const ReservationId id : held)
        if (!state_.shapes[state_.allocations[state_.reservations[id].ask].shape].is_pinned()) drop(id, now);
}

} // namespace yk
