// Reservations being made and dropped: ask, application, node, leaf queue and shape, always together (S-404, S-415).

#include <algorithm>

#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

template <class T>
void take_out(std::vector<T>& list, T value) {
    list.erase(std::find(list.begin(), list.end(), value)); // order matters: oldest first (S-410)
}

} // namespace

void PartitionContext::make_reservation(AllocationId ask_id, NodeId node_id, Instant now) {
    Allocation& ask = s_.allocations[ask_id];
    Application& application = s_.applications[ask.application];
    Node& node = s_.nodes[node_id];
    const ReservationId id = s_.reservations.make();
    s_.reservations[id] = {ask_id, ask.application, node_id, now, s_.next_token++, false, false};
    ask.reservation = id;
    application.reservations.push_back(id);
    node.reservations.push_back(id);
    ++application.queue->reserved_applications[ask.application];
    s_.shapes[ask.shape].reserved.push_back(ask_id);
    group_freedom_changed(s_.groups[ask.group], ask_id, s_.allocations);
    update_due(ask.group, now);
    orders_.touch(ask.group);
    orders_.touch(ask.application);
    s_.nodes.touch(node_id, false);
    s_.timers.set(now + s_.settings.reservation_timeout + Duration{1}, TimerKind::ReservationAge, id.index,
                  s_.reservations[id].sequence);
    s_.tell({EventType::Node,
             EventChange::Add,
             EventDetail::NodeReservation,
             node.id,
             ask.key.view(),
             {},
             &s_.resource_of(ask)},
            now);
}

void PartitionContext::unlist_reserved(AllocationId ask) {
    take_out(s_.shapes[s_.allocations[ask].shape].reserved, ask);
}

void PartitionContext::drop_reservation(ReservationId id, Instant now) {
    const Reservation gone = s_.reservations[id];
    Allocation& ask = s_.allocations[gone.ask];
    Application& application = s_.applications[gone.application];
    Node& node = s_.nodes[gone.node];
    if (gone.by_headroom) --s_.stalled_by_headroom;
    ask.reservation = {};
    take_out(application.reservations, id);
    take_out(node.reservations, id);
    auto& counts = application.queue->reserved_applications;
    if (--counts[gone.application] == 0) counts.erase(gone.application);
    unlist_reserved(gone.ask);
    s_.reservations.destroy(id);
    if (ask.is(Allocation::Triggered) && ask.group.valid()) end_trigger(gone.ask, false, now); // P-079
    if (ask.group.valid()) {
        group_freedom_changed(s_.groups[ask.group], gone.ask, s_.allocations);
        update_due(ask.group, now);
        orders_.touch(ask.group);
    }
    orders_.touch(gone.application);
    s_.nodes.touch(gone.node, true);
    s_.tell({EventType::Node,
             EventChange::Remove,
             EventDetail::NodeReservation,
             node.id,
             ask.key.view(),
             {},
             &s_.resource_of(ask)},
            now);
}

/// S-432, S-415: those of asks without required node.
void PartitionContext::drop_ordinary_reservations(NodeId node, Instant now) {
    const std::vector<ReservationId> held = s_.nodes[node].reservations;
    for (const ReservationId id : held)
        if (!s_.shapes[s_.allocations[s_.reservations[id].ask].shape].is_pinned()) drop_reservation(id, now);
}

} // namespace yk
