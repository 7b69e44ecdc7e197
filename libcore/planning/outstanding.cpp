// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/outstanding.h"

#include <algorithm>

namespace yk {

std::vector<AllocationId> OutstandingAsks::find() {
    visit(state_.queues.root());
    return std::move(found_);
}

void OutstandingAsks::visit(const Queue& queue) {
    if (!queue.leaf) {
        queue.child_index.for_each([this](std::uint32_t child) { visit(*state_.queues.at(child)); });
        return;
    }
    queue.application_index.for_each([this](std::uint32_t id) {
        const Application& application = state_.applications[ApplicationId{id}];
        if (application.reported_asks < application.tried_asks) visit(application);
    });
}

Limit OutstandingAsks::headroom_for(const Application& application) const {
    Limit headroom = state_.users.headroom(application.user_usage);
    headroom.tighten(state_.users.headroom(application.group_usage));
    for (const Queue* queue = application.queue; !queue->is_root(); queue = queue->parent) {
        Resource used = queue->allocated;
        const auto promised = promised_.find(queue);
        if (promised != promised_.end()) used.add(promised->second);
        headroom.tighten(queue->max.headroom(used));
    }
    return headroom;
}

/// Each ask that fits uses up headroom, reported before or not (S-521). An ask that does not fit never will in this
/// walk, nor will its equals, so the rest of its group is skipped.
void OutstandingAsks::visit(const Application& application) {
    Limit headroom = headroom_for(application);
    const auto later = [this](AllocationId a, AllocationId b) {
        return order_of(state_.allocations[b]) < order_of(state_.allocations[a]);
    };
    std::vector<AllocationId> heads;
    application.groups.for_each([&](std::uint32_t id) {
        const AskGroup& group = state_.groups[GroupId{id}];
        if (!group.replaceable) heads.push_back(group.head); // its placeholders hold the resources already (G-030)
    });
    std::make_heap(heads.begin(), heads.end(), later);
    while (!heads.empty()) {
        std::pop_heap(heads.begin(), heads.end(), later);
        const AllocationId id = heads.back();
        heads.pop_back();
        const Allocation& ask = state_.allocations[id];
        const Resource& wanted = state_.resource_of(ask);
        if (ask.is(Allocation::Attempted)) {
            if (!headroom.allows(wanted)) continue;
            headroom = headroom.headroom(wanted);
            const bool waits = ask.is(Allocation::Parked) && !ask.is(Allocation::Refused); // for its RM, not for a node
            if (!waits && !ask.is(Allocation::ScaleUp) && !state_.shapes[ask.shape].is_pinned()) report(id);
        }
        if (const AllocationId next{ask.links.pending.next}; next.valid()) {
            heads.push_back(next);
            std::push_heap(heads.begin(), heads.end(), later);
        }
    }
}

void OutstandingAsks::report(AllocationId id) {
    found_.push_back(id);
    const Allocation& ask = state_.allocations[id];
    for (const Queue* queue = state_.applications[ask.application].queue; !queue->is_root(); queue = queue->parent)
        promised_[queue].add(state_.resource_of(ask));
}

} // namespace yk
