#include "libcore/scheduler/orders.h"

#include <algorithm>

#include "libcore/scheduler/stage.h"

namespace yk {

namespace {

/// Into the list of what a limit holds, each under its own position.
template <class T>
void hold_in(std::vector<Id<T>>& held, Id<T> id, T& object, UsageNodeId at) {
    object.held_at = at;
    object.held_position = static_cast<std::uint32_t>(held.size());
    held.push_back(id);
}

/// And out of it.
template <class T>
void strike(std::vector<Id<T>>& held, T& object, Slab<T>& objects) {
    held[object.held_position] = held.back();
    objects[held.back()].held_position = object.held_position;
    held.pop_back();
    object.held_at = {};
}

} // namespace

// --- marks
// -------------------------------------------------------------------------------------------------------------

void Orders::touch(GroupId id) {
    AskGroup& group = s_.groups[id];
    s_.worth_inspecting = true;
    enlist(groups_, group.dirty, id);
}

void Orders::touch(ApplicationId id) {
    Application& application = s_.applications[id];
    s_.worth_inspecting = true;
    enlist(applications_, application.dirty, id);
}

void Orders::touch(Queue& queue, bool grew) {
    s_.worth_inspecting = true;
    queue.grew = queue.grew || grew;
    any_grew_ = any_grew_ || grew;
    if (enlist(queues_[queue.depth], queue.dirty, &queue)) ++marked_queues_;
}

void Orders::path_grew(Queue& leaf) {
    for (Queue* queue = &leaf; queue != nullptr; queue = queue->parent) touch(*queue, true);
}

void Orders::forget(GroupId id) {
    let_go(s_.groups[id]);
    ListSlot& slot = s_.groups[id].dirty;
    if (slot.listed()) take_off(groups_, slot, [this](GroupId each) -> ListSlot& { return s_.groups[each].dirty; });
}

void Orders::forget(ApplicationId id) {
    let_go(s_.applications[id]);
    ListSlot& slot = s_.applications[id].dirty;
    if (slot.listed())
        take_off(applications_, slot, [this](ApplicationId each) -> ListSlot& { return s_.applications[each].dirty; });
}

void Orders::forget(Queue& queue) {
    if (queue.blocking.listed()) stop_blocking(queue);
    if (!queue.dirty.listed()) return;
    take_off(queues_[queue.depth], queue.dirty, [](Queue* each) -> ListSlot& { return each->dirty; });
    --marked_queues_;
}

void Orders::reserve_room() {
    groups_.reserve(groups_.size() + 2);
    applications_.reserve(applications_.size() + 2);
    s_.nodes.reserve_room();
}

// --- filing
// ------------------------------------------------------------------------------------------------------------

void Orders::refresh() {
    s_.nodes.refresh([this](NodeId id, const Node& node, bool grew) {
        s_.victims.node_changed(id);
        node_refreshed(id, node, grew);
    });
    if (rebuild_) {
        rekey_all(*s_.root);
        rebuild_ = false;
        rebuild_applications_ = false;
    }
    lift_holds();
    lift_blocks(); // wakes reservations, so before their applications are filed
    {
        const StageScope stage{s_.observer, Stage::SortApplications};
        for (std::size_t i = 0; i < groups_.size(); ++i) file(groups_[i]);
        groups_.clear();
        for (std::size_t i = 0; i < applications_.size(); ++i) file(applications_[i]);
        applications_.clear();
    }
    if (marked_queues_ == 0) return;
    const StageScope stage{s_.observer, Stage::SortQueues};
    for (std::size_t depth = queues_.size(); depth-- > 0;) {
        for (std::size_t i = 0; i < queues_[depth].size(); ++i) file(*queues_[depth][i]);
        queues_[depth].clear();
    }
    marked_queues_ = 0;
}

void Orders::node_refreshed(NodeId id, const Node& node, bool grew) {
    for (const ReservationId held : node.reservations) wake(held);
    if (!grew) return;
    wake_gangs();
    if (s_.inquiries.resting > 0) s_.inquiries.grown.push_back(id);
    s_.shapes.for_each_blocked_below(lanes_of(node.available), [&](ShapeId shape_id) {
        const Shape& shape = s_.shapes[shape_id];
        if (!shape.is_pinned() && node.is_open() && fits(node.available, shape.resource)) unblock(shape_id);
    });
    s_.shapes.for_each_pinned_blocked([&](ShapeId shape_id) {
        if (s_.shapes[shape_id].required_node == node.id) unblock(shape_id);
    });
    if (!node.is_open()) return;
    s_.shapes.for_each_reserve_blocked([&](ShapeId shape_id) {
        if (fits(node.capacity, s_.shapes[shape_id].resource)) s_.shapes.unblock_reserve(shape_id);
    });
}

void Orders::unblock(ShapeId id) {
    s_.shapes.unblock(id);
    s_.shapes.unblock_reserve(id); // a node that can take it can be reserved, too
    for (const AllocationId ask : s_.shapes[id].reserved) wake(s_.allocations[ask].reservation);
}

void Orders::wake(ReservationId id) {
    Reservation& reservation = s_.reservations[id];
    if (!reservation.stalled) return;
    reservation.stalled = false;
    if (reservation.by_headroom) --s_.stalled_by_headroom;
    reservation.by_headroom = false;
    touch(reservation.application);
}

void Orders::wake_gangs() {
    for (const ApplicationId id : s_.stalled_gangs) {
        if (!s_.applications.alive(id)) continue;
        s_.applications[id].gang.stalled = false;
        touch(id);
    }
    s_.stalled_gangs.clear();
}

Masks Orders::masks_of(const AskGroup& group) const {
    Masks masks;
    if (group.held_at.valid() || group.replaceable || group.gang_held) return masks;
    if (group.checks && group.checks->due) masks.tries = kVisitBit;
    if (!group.first_free.valid()) return masks;
    const Shape& shape = s_.shapes[group.shape];
    masks.tries |= shape.mask();
    masks.reserves = group.due && !shape.is_pinned() ? shape.mask() : 0;
    return masks;
}

void Orders::file(GroupId id) {
    AskGroup& group = s_.groups[id];
    group.dirty.forget();
    GroupIndex& index = s_.applications[group.application].groups;
    const AllocationId first = group.first_free.valid() ? group.first_free : group.head;
    const AskOrder key = order_of(s_.allocations[first]);
    if (group.slot.in_index())
        index.update(id.index, key, masks_of(group));
    else
        index.insert(id.index, key, masks_of(group));
    touch(group.application);
}

OrderSummary Orders::summary_of(const Application& application) const {
    OrderSummary summary;
    summary.priority = application.ask_priority();
    if (application.gang.may_replace()) summary.ready.reserves = kReplaceBit; // in any state (G-032)
    if (application.held_at.valid()) return summary;
    Masks masks = application.groups.total();
    if (application.backing_off || application.counted)
        masks = {};
    else if (application.queue->properties.backoff_count > 0)
        masks = {application.pending_asks > 0 ? kVisitBit : 0, 0}; // reserved asks count, too
    else if (application.answered > 0)
        masks.tries |= kVisitBit;
    const auto awake = [this](ReservationId id) { return !s_.reservations[id].stalled; };
    if (std::any_of(application.reservations.begin(), application.reservations.end(), awake))
        masks.reserves |= kReservedBit;
    (application.needs_slot() ? summary.waiting : summary.ready).merge(masks);
    return summary;
}

ApplicationKey Orders::key_of(const Application& application) {
    const config::QueueProperties& properties = application.queue->properties;
    const double priority = -static_cast<double>(application.ask_priority());
    const std::int64_t submitted = application.submitted.ns;
    const bool by_priority = properties.priority_sorting;
    if (properties.sort_policy == config::SortPolicy::Fifo) {
        if (by_priority) return {priority, 0, submitted, 0, &application};
        return {0, 0, submitted, static_cast<std::int64_t>(priority), &application};
    }
    const double usage = application.usage.largest();
    if (by_priority) return {priority, usage, submitted, 0, &application};
    return {usage, 0, static_cast<std::int64_t>(priority), submitted, &application};
}

void Orders::file(ApplicationId id) {
    Application& application = s_.applications[id];
    application.dirty.forget();
    Queue& leaf = *application.queue;
    auto& index = leaf.application_index;
    touch(leaf);
    if (application.pending_asks == 0) {
        if (application.slot.in_index()) index.erase(id.index);
        return;
    }
    bool moved = false;
    if (leaf.properties.sort_policy == config::SortPolicy::Fair) {
        const Resource* guaranteed = leaf.guaranteed ? &*leaf.guaranteed : nullptr;
        shares_of(application.allocated, guaranteed, scratch_);
        moved = scratch_ != application.usage;
        if (moved) application.usage = scratch_;
    } else {
        application.usage.clear();
    }
    const ApplicationKey key = key_of(application);
    const OrderSummary summary = summary_of(application);
    if (!application.slot.in_index()) {
        index.insert(id.index, key, summary);
        return;
    }
    index.update(id.index, key, summary, [&](const ApplicationKey& filed) {
        return moved || filed.first != key.first || filed.second != key.second || filed.third != key.third ||
               filed.fourth != key.fourth;
    });
}

// --- limits of users and groups
// -------------------------------------------------------------------------------------------

void Orders::hold(GroupId id, UsageNodeId at) {
    hold_in(s_.users.held_at(at).groups, id, s_.groups[id], at);
    touch(id);
}

void Orders::hold(ApplicationId id, UsageNodeId at) {
    hold_in(s_.users.held_at(at).applications, id, s_.applications[id], at);
    touch(id);
}

void Orders::let_go(AskGroup& group) {
    if (group.held_at.valid()) strike(s_.users.held_at(group.held_at).groups, group, s_.groups);
}

void Orders::let_go(Application& application) {
    if (application.held_at.valid())
        strike(s_.users.held_at(application.held_at).applications, application, s_.applications);
}

void Orders::lift_holds() {
    if (!s_.users.any_grown()) return;
    s_.users.take_grown([this](UsageNode& node) {
        for (std::size_t i = node.held->groups.size(); i-- > 0;) {
            const GroupId id = node.held->groups[i];
            AskGroup& group = s_.groups[id];
            if (!node.allows(s_.shapes[group.shape].resource)) continue;
            let_go(group);
            touch(id);
        }
        if (!node.has_slot()) return;
        while (!node.held->applications.empty()) {
            const ApplicationId id = node.held->applications.back();
            let_go(s_.applications[id]);
            touch(id);
        }
    });
    wake_headroom();
}

// --- blocks
// ------------------------------------------------------------------------------------------------------------

void Orders::lift_blocks() {
    if (!any_grew_) return;
    any_grew_ = false;
    for (const auto& level : queues_)
        for (Queue* queue : level) {
            if (!queue->grew) continue;
            queue->grew = false;
            queue->unblock_fitting(s_.shapes);
        }
    wake_headroom();
}

void Orders::drop_blocks() {
    s_.shapes.for_each_blocked([this](ShapeId id) { unblock(id); });
    s_.shapes.for_each_reserve_blocked([this](ShapeId id) { s_.shapes.unblock_reserve(id); });
    for (Queue* queue : blocking_) {
        while (queue->has_blocks()) queue->unblock(queue->blocked_shapes().back(), s_.shapes);
        touch(*queue);
    }
}

void Orders::wake_headroom() {
    if (s_.stalled_by_headroom == 0) return;
    s_.reservations.for_each([this](ReservationId id) {
        if (s_.reservations[id].by_headroom) wake(id);
    });
}

void Orders::file(Queue& queue) {
    queue.dirty.forget();
    if (queue.is_root()) return;
    touch(*queue.parent);
    auto& index = queue.parent->child_index;
    if (queue.state == ObjectState::Stopped || !queue.has_content()) { // not its pending: sums saturate (S-003)
        if (queue.slot.in_index()) index.erase(queue.index);
        return;
    }
    OrderSummary summary = queue.content();
    if (!queue.has_free_slot()) summary.waiting = {};
    for (Masks* masks : {&summary.ready, &summary.waiting}) {
        masks->tries &= ~queue.blocked_bits();
        masks->reserves &= ~queue.blocked_bits();
    }
    summary.priority = queue.published_priority(summary.priority);

    queue.share = fair_share(queue.allocated, queue.guaranteed ? &*queue.guaranteed : nullptr, queue.fair_max);
    shares_of(queue.pending, &s_.root->max.bounds(), scratch_);
    const bool moved = scratch_ != queue.pending_shares;
    if (moved) queue.pending_shares = scratch_;
    const double priority = -static_cast<double>(summary.priority);
    QueueKey key{priority, queue.share, &queue};
    if (!queue.parent->properties.priority_sorting) std::swap(key.first, key.second);
    if (!queue.slot.in_index()) {
        index.insert(queue.index, key, summary);
        return;
    }
    index.update(queue.index, key, summary, [&](const QueueKey& filed) {
        return moved || filed.first != key.first || filed.second != key.second;
    });
}

/// S-202: the parent's fair max overlaid with the own max; nothing below a parent that has none.
void Orders::compute_fair_max(Queue& queue) {
    queue.fair_max = queue.is_root() ? queue.max : queue.parent->fair_max;
    if (!queue.is_root() && !queue.fair_max.unlimited()) queue.fair_max.overlay(queue.max);
}

void Orders::queue_changed(Queue& queue) {
    if (queues_.size() <= queue.depth) queues_.resize(queue.depth + 1);
    auto& level = queues_[queue.depth]; // marking requests no memory
    if (level.capacity() < s_.queues.size()) level.reserve(2 * s_.queues.size());
    compute_fair_max(queue);
    touch(queue, true);
    refile_applications(queue);
}

/// All keys of the leaf change at once: an index must never hold keys of two minds. Whoever is not in it has nothing
/// pending, or is marked.
void Orders::refile_applications(Queue& leaf) {
    leaf.application_index.for_each([this](std::uint32_t id) { touch(ApplicationId{id}); });
    leaf.application_index.clear();
}

/// All keys of a level change at once, so the level is filed anew: an index must never hold keys of two minds.
void Orders::rekey_all(Queue& queue) {
    compute_fair_max(queue);
    queue.child_index.clear();
    touch(queue, true);
    if (rebuild_applications_) refile_applications(queue);
    for (const auto& [name, child] : queue.children) rekey_all(*child);
}

// --- shapes
// ------------------------------------------------------------------------------------------------------------

void Orders::blocked(Queue& queue) {
    touch(queue);
    enlist(blocking_, queue.blocking, &queue);
}

void Orders::stop_blocking(Queue& queue) {
    take_off(blocking_, queue.blocking, [](Queue* each) -> ListSlot& { return each->blocking; });
}

void Orders::shape_appeared(ShapeId id) {
    for (std::size_t i = blocking_.size(); i-- > 0;) {
        Queue& queue = *blocking_[i];
        if (queue.has_blocks() && !queue.blocks(id)) {
            queue.reopen(s_.shapes[id].bit);
            touch(queue);
        } else if (!queue.has_blocks()) {
            stop_blocking(queue);
        }
    }
}

void Orders::sweep_shapes() {
    if (!s_.shapes.sweep_due()) return;
    s_.shapes.sweep([this](ShapeId id) {
        s_.nodes.forget_shape(id);
        for (Queue* queue : blocking_) queue->unblock(id, s_.shapes);
    });
}

} // namespace yk
