// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/scheduling_indexes.h"

#include <algorithm>

#include "libcore/ports/cycle.h"

namespace yk {

namespace {

/// Adds the object to the list of what a limit holds; the object knows its position there.
template <class T>
void hold_in(std::vector<Id<T>>& held, Id<T> id, T& object, UsageNodeId at) {
    object.held_at = at;
    object.held_position = static_cast<std::uint32_t>(held.size());
    held.push_back(id);
}

/// Removes it from that list.
template <class T>
void release_in(std::vector<Id<T>>& held, T& object, Slab<T>& objects) {
    held[object.held_position] = held.back();
    objects[held.back()].held_position = object.held_position;
    held.pop_back();
    object.held_at = {};
}

} // namespace

// --- marks ----------------------------------------------------------------------------------------------------------

[[gnu::hot]] void SchedulingIndexes::mark_dirty(GroupId id) noexcept {
    AskGroup& group = state_.groups[id];
    state_.worth_inspecting = true;
    enlist(groups_, group.dirty, id);
}

[[gnu::hot]] void SchedulingIndexes::mark_dirty(ApplicationId id) noexcept {
    Application& application = state_.applications[id];
    state_.worth_inspecting = true;
    enlist(applications_, application.dirty, id);
}

[[gnu::hot]] void SchedulingIndexes::mark_dirty(Queue& queue, bool grew) noexcept {
    state_.worth_inspecting = true;
    queue.grew = queue.grew || grew;
    any_grew_ = any_grew_ || grew;
    if (enlist(queues_[queue.depth], queue.dirty, &queue)) ++marked_queues_;
}

void SchedulingIndexes::path_grew(Queue& leaf) noexcept {
    for (Queue* queue = &leaf; queue != nullptr; queue = queue->parent) mark_dirty(*queue, true);
}

void SchedulingIndexes::forget(GroupId id) noexcept {
    let_go(state_.groups[id]);
    ListSlot& slot = state_.groups[id].dirty;
    if (slot.listed()) take_off(groups_, slot, [this](GroupId each) -> ListSlot& { return state_.groups[each].dirty; });
}

void SchedulingIndexes::forget(ApplicationId id) noexcept {
    let_go(state_.applications[id]);
    ListSlot& slot = state_.applications[id].dirty;
    if (slot.listed())
        take_off(applications_, slot,
                 [this](ApplicationId each) -> ListSlot& { return state_.applications[each].dirty; });
}

void SchedulingIndexes::forget(Queue& queue) noexcept {
    if (queue.blocking.listed()) stop_blocking(queue);
    if (!queue.dirty.listed()) return;
    take_off(queues_[queue.depth], queue.dirty, [](Queue* each) -> ListSlot& { return each->dirty; });
    --marked_queues_;
}

void SchedulingIndexes::reserve_capacity() {
    groups_.reserve(groups_.size() + 2);
    applications_.reserve(applications_.size() + 2);
    state_.nodes.reserve_capacity();
}

// --- filing ---------------------------------------------------------------------------------------------------------

[[gnu::hot]] void SchedulingIndexes::refresh() noexcept {
    state_.nodes.refresh([this](NodeId id, const Node& node, bool grew) {
        victims_.node_changed(id);
        node_refreshed(id, node, grew);
    });
    if (rebuild_) {
        rekey_all(state_.queues.root());
        rebuild_ = false;
        rebuild_applications_ = false;
    }
    lift_holds();
    lift_blocks(); // before applications are filed: it wakes reservations
    {
        const StageScope stage{state_.observer, Stage::SortApplications};
        for (std::size_t i = 0; i < groups_.size(); ++i) file(groups_[i]);
        groups_.clear();
        for (std::size_t i = 0; i < applications_.size(); ++i) file(applications_[i]);
        applications_.clear();
    }
    if (marked_queues_ == 0) return;
    const StageScope stage{state_.observer, Stage::SortQueues};
    for (std::size_t depth = queues_.size(); depth-- > 0;) {
        for (std::size_t i = 0; i < queues_[depth].size(); ++i) file(*queues_[depth][i]);
        queues_[depth].clear();
    }
    marked_queues_ = 0;
}

void SchedulingIndexes::node_refreshed(NodeId id, const Node& node, bool grew) noexcept {
    for (const ReservationId held : node.reservations) wake(held);
    if (!grew) return;
    wake_gangs();
    if (state_.inquiries.resting > 0) state_.inquiries.grown.push_back(id);
    state_.shapes.for_each_blocked_below(lanes_of(node.available), [&](ShapeId shape_id) {
        const Shape& shape = state_.shapes[shape_id];
        if (!shape.is_pinned() && node.is_open() && takes(node, shape)) unblock(shape_id);
    });
    state_.shapes.for_each_pinned_blocked([&](ShapeId shape_id) {
        if (state_.shapes[shape_id].required_node == node.id) unblock(shape_id);
    });
    if (!node.is_open()) return;
    state_.shapes.for_each_reserve_blocked([&](ShapeId shape_id) {
        if (could_take(node, state_.shapes[shape_id])) state_.shapes.unblock_reserve(shape_id);
    });
}

void SchedulingIndexes::unblock(ShapeId id) noexcept {
    state_.shapes.unblock(id);
    state_.shapes.unblock_reserve(id); // a node on which it fits can be reserved as well
    for (const AllocationId ask : state_.shapes[id].reserved) wake(state_.allocations[ask].reservation);
}

void SchedulingIndexes::wake(ReservationId id) noexcept {
    Reservation& reservation = state_.reservations[id];
    if (!reservation.stalled) return;
    reservation.stalled = false;
    if (reservation.by_headroom) --state_.stalled_by_headroom;
    reservation.by_headroom = false;
    mark_dirty(reservation.application);
}

void SchedulingIndexes::stall_gang(ApplicationId id) noexcept {
    state_.applications[id].gang.stalled = true;
    if (std::find(stalled_gangs_.begin(), stalled_gangs_.end(), id) == stalled_gangs_.end())
        stalled_gangs_.push_back(id);
    mark_dirty(id);
}

void SchedulingIndexes::wake_gangs() noexcept {
    for (const ApplicationId id : stalled_gangs_) {
        if (!state_.applications.alive(id)) continue;
        state_.applications[id].gang.stalled = false;
        mark_dirty(id);
    }
    stalled_gangs_.clear();
}

Masks SchedulingIndexes::masks_of(const AskGroup& group) const noexcept {
    Masks masks;
    if (group.held_at.valid() || group.replaceable || group.gang_held) return masks;
    if (group.checks && group.checks->due) masks.tries = kVisitBit;
    if (!group.first_free.valid()) return masks;
    const Shape& shape = state_.shapes[group.shape];
    masks.tries |= shape.mask();
    masks.reserves = group.due && !shape.is_pinned() ? shape.mask() : 0;
    return masks;
}

void SchedulingIndexes::file(GroupId id) noexcept {
    AskGroup& group = state_.groups[id];
    group.dirty.forget();
    GroupIndex& index = state_.applications[group.application].groups;
    const AllocationId first = group.first_free.valid() ? group.first_free : group.head;
    const AskOrder key = order_of(state_.allocations[first]);
    if (group.slot.in_index())
        index.update(id.index, key, masks_of(group));
    else
        index.insert(id.index, key, masks_of(group));
    mark_dirty(group.application);
}

[[gnu::hot]] OrderSummary SchedulingIndexes::summary_of(const Application& application) const noexcept {
    OrderSummary summary;
    summary.priority = application.ask_priority();
    if (application.gang.may_replace()) summary.ready.reserves = kReplaceBit; // in any state (G-032)
    if (application.held_at.valid()) return summary;
    Masks masks = application.groups.total();
    if (application.backing_off || application.tried_this_cycle)
        masks = {};
    else if (application.queue->properties.backoff_count > 0)
        masks = {application.pending_asks > 0 ? kVisitBit : 0, 0}; // asks with a reservation count as well
    else if (application.answered > 0)
        masks.tries |= kVisitBit;
    const auto awake = [this](ReservationId id) { return !state_.reservations[id].stalled; };
    if (std::any_of(application.reservations.begin(), application.reservations.end(), awake))
        masks.reserves |= kReservedBit;
    (application.needs_slot() ? summary.waiting : summary.ready).merge(masks);
    return summary;
}

ApplicationKey SchedulingIndexes::key_of(const Application& application) noexcept {
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

void SchedulingIndexes::file(ApplicationId id) noexcept {
    Application& application = state_.applications[id];
    application.dirty.forget();
    Queue& leaf = *application.queue;
    auto& index = leaf.application_index;
    mark_dirty(leaf);
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

// --- limits of users and groups -------------------------------------------------------------------------------------

void SchedulingIndexes::hold(GroupId id, UsageNodeId at) noexcept {
    hold_in(state_.users.held_at(at).groups, id, state_.groups[id], at);
    mark_dirty(id);
}

void SchedulingIndexes::hold(ApplicationId id, UsageNodeId at) noexcept {
    hold_in(state_.users.held_at(at).applications, id, state_.applications[id], at);
    mark_dirty(id);
}

void SchedulingIndexes::let_go(AskGroup& group) noexcept {
    if (group.held_at.valid()) release_in(state_.users.held_at(group.held_at).groups, group, state_.groups);
}

void SchedulingIndexes::let_go(Application& application) noexcept {
    if (application.held_at.valid())
        release_in(state_.users.held_at(application.held_at).applications, application, state_.applications);
}

void SchedulingIndexes::lift_holds() noexcept {
    if (!state_.users.any_grown()) return;
    state_.users.take_grown([this](UsageNode& node) {
        for (std::size_t i = node.held->groups.size(); i-- > 0;) {
            const GroupId id = node.held->groups[i];
            AskGroup& group = state_.groups[id];
            if (!node.allows(state_.shapes[group.shape].resource)) continue;
            let_go(group);
            mark_dirty(id);
        }
        if (!node.has_slot()) return;
        while (!node.held->applications.empty()) {
            const ApplicationId id = node.held->applications.back();
            let_go(state_.applications[id]);
            mark_dirty(id);
        }
    });
    wake_headroom();
}

// --- blocks ---------------------------------------------------------------------------------------------------------

void SchedulingIndexes::lift_blocks() noexcept {
    if (!any_grew_) return;
    any_grew_ = false;
    for (const auto& level : queues_)
        for (Queue* queue : level) {
            if (!queue->grew) continue;
            queue->grew = false;
            queue->unblock_fitting(state_.shapes);
        }
    wake_headroom();
}

void SchedulingIndexes::drop_blocks() noexcept {
    state_.shapes.for_each_blocked([this](ShapeId id) { unblock(id); });
    state_.shapes.for_each_reserve_blocked([this](ShapeId id) { state_.shapes.unblock_reserve(id); });
    for (Queue* queue : blocking_) {
        while (queue->has_blocks()) queue->unblock(queue->blocked_shapes().back(), state_.shapes);
        mark_dirty(*queue);
    }
}

void SchedulingIndexes::wake_headroom() noexcept {
    if (state_.stalled_by_headroom == 0) return;
    state_.reservations.for_each([this](ReservationId id) {
        if (state_.reservations[id].by_headroom) wake(id);
    });
}

void SchedulingIndexes::file(Queue& queue) noexcept {
    queue.dirty.forget();
    if (queue.is_root()) return;
    mark_dirty(*queue.parent);
    auto& index = queue.parent->child_index;
    // has_content(), and not what is pending: sums saturate (S-003)
    if (queue.state == ObjectState::Stopped || !queue.has_content()) {
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
    shares_of(queue.pending, &state_.queues.root().max.bounds(), scratch_);
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

/// The parent's fair max overlaid with the queue's own max; below a parent that has none there is none (S-202).
void SchedulingIndexes::compute_fair_max(Queue& queue) noexcept {
    queue.fair_max = queue.is_root() ? queue.max : queue.parent->fair_max;
    if (!queue.is_root() && !queue.fair_max.unlimited()) queue.fair_max.overlay(queue.max);
}

void SchedulingIndexes::queue_changed(Queue& queue) noexcept {
    if (queues_.size() <= queue.depth) queues_.resize(queue.depth + 1);
    auto& level = queues_[queue.depth]; // reserved for all queues, so that marking requests no memory
    if (level.capacity() < state_.queues.size()) level.reserve(2 * state_.queues.size());
    compute_fair_max(queue);
    mark_dirty(queue, true);
    refile_applications(queue);
}

/// All keys of a leaf change at once, since an index cannot hold keys made by different rules. Applications that are
/// not in the index have nothing pending, or are dirty.
void SchedulingIndexes::refile_applications(Queue& leaf) noexcept {
    leaf.application_index.for_each([this](std::uint32_t id) { mark_dirty(ApplicationId{id}); });
    leaf.application_index.clear();
}

/// Files all queues below this one anew, since an index cannot hold keys made by different rules.
void SchedulingIndexes::rekey_all(Queue& queue) noexcept {
    compute_fair_max(queue);
    queue.child_index.clear();
    mark_dirty(queue, true);
    if (rebuild_applications_) refile_applications(queue);
    for (const auto& [name, child] : queue.children) rekey_all(*child);
}

// --- shapes ---------------------------------------------------------------------------------------------------------

void SchedulingIndexes::blocked(Queue& queue) noexcept {
    mark_dirty(queue);
    enlist(blocking_, queue.blocking, &queue);
}

void SchedulingIndexes::stop_blocking(Queue& queue) noexcept {
    take_off(blocking_, queue.blocking, [](Queue* each) -> ListSlot& { return each->blocking; });
}

void SchedulingIndexes::shape_appeared(ShapeId id) noexcept {
    for (std::size_t i = blocking_.size(); i-- > 0;) {
        Queue& queue = *blocking_[i];
        if (queue.has_blocks() && !queue.blocks(id)) {
            queue.reopen(state_.shapes[id].bit);
            mark_dirty(queue);
        } else if (!queue.has_blocks()) {
            stop_blocking(queue);
        }
    }
}

void SchedulingIndexes::begin_cycle() noexcept {
    if (!state_.settings.shortcuts.blocks) drop_blocks();
    if (!state_.shapes.sweep_due()) return;
    state_.shapes.sweep([this](ShapeId id) {
        state_.nodes.forget_shape(id);
        for (Queue* queue : blocking_) queue->unblock(id, state_.shapes);
    });
}

} // namespace yk
