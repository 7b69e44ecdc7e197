#include "libcore/scheduler/outstanding.h"

#include <algorithm>

namespace yk {

std::vector<AllocationId> OutstandingAsks::find() {
    visit(*s_.root);
    return std::move(found_);
}

void OutstandingAsks::visit(const Queue& queue) {
    if (!queue.leaf) {
        queue.child_index.for_each([this](std::uint32_t child) { visit(*s_.queues[child]); });
        return;
    }
    queue.application_index.for_each([this](std::uint32_t id) {
        const Application& application = s_.applications[ApplicationId{id}];
        if (application.reported_asks < application.pending_asks) visit(application);
    });
}

Limit OutstandingAsks::room_for(const Application& application) const {
    Limit room = s_.users.headroom(application.user_usage);
    room.tighten(s_.users.headroom(application.group_usage));
    for (const Queue* queue = application.queue; !queue->is_root(); queue = queue->parent) {
        Resource used = queue->allocated;
        const auto promised = promised_.find(queue);
        if (promised != promised_.end()) used.add(promised->second);
        room.tighten(queue->max.headroom(used));
    }
    return room;
}

/// S-521: each ask that fits takes its part of the room, reported before or not. What does not fit once never fits
/// again, so its group is left.
void OutstandingAsks::visit(const Application& application) {
    Limit room = room_for(application);
    const auto later = [this](AllocationId a, AllocationId b) {
        return order_of(s_.allocations[b]) < order_of(s_.allocations[a]);
    };
    std::vector<AllocationId> heads;
    application.groups.for_each([&](std::uint32_t id) {
        const AskGroup& group = s_.groups[GroupId{id}];
        if (!group.replaceable) heads.push_back(group.head); // its placeholders have the room already (G-030)
    });
    std::make_heap(heads.begin(), heads.end(), later);
    while (!heads.empty()) {
        std::pop_heap(heads.begin(), heads.end(), later);
        const AllocationId id = heads.back();
        heads.pop_back();
        const Allocation& ask = s_.allocations[id];
        const Resource& wanted = s_.resource_of(ask);
        if (ask.is(Allocation::Attempted)) {
            if (!room.allows(wanted)) continue;
            room = room.headroom(wanted);
            const bool waits = ask.is(Allocation::Parked) && !ask.is(Allocation::Refused); // for its RM, not for a node
            if (!waits && !ask.is(Allocation::ScaleUp) && !s_.shapes[ask.shape].is_pinned()) report(id);
        }
        if (const AllocationId next{ask.place.pending.next}; next.valid()) {
            heads.push_back(next);
            std::push_heap(heads.begin(), heads.end(), later);
        }
    }
}

void OutstandingAsks::report(AllocationId id) {
    found_.push_back(id);
    const Allocation& ask = s_.allocations[id];
    for (const Queue* queue = s_.applications[ask.application].queue; !queue->is_root(); queue = queue->parent)
        promised_[queue].add(s_.resource_of(ask));
}

} // namespace yk
