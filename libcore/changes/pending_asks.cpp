// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/pending_asks.h"

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/changes/requests.h"

namespace yk {

namespace {

constexpr std::string_view kRequiredNode = "yunikorn.apache.org/requiredNode";
constexpr std::string_view kCreationTime = "creationTime";

} // namespace

void PendingAsks::replace(AllocationId id, const AskSpec& spec, Instant now) noexcept {
    Allocation& ask = state_.allocations[id];
    const TagSetId tags = state_.tags.acquire(spec.tags);
    state_.tags.release(ask.tags);
    ask.tags = tags;
    ask.mark(Allocation::Originator, spec.originator);
    ask.mark(Allocation::PreemptSelf, spec.allow_preempt_self);
    if (state_.inquiries.find(id) != nullptr) { // the answers of its RM were about the ask as it was
        parked_asks_.forget(id);
        parked_asks_.parking_changed(id, now);
    }
    if (ask.is(Allocation::PreemptOther) != spec.allow_preempt_other) {
        ask.mark(Allocation::PreemptOther, spec.allow_preempt_other);
        state_.groups[ask.group].preemptors += spec.allow_preempt_other ? 1U : ~0U;
        checks_.changed(id, now);
    }
    const std::uint32_t task_group = state_.texts.acquire(spec.task_group);
    reshape(id, shape_of(spec), spec.priority, task_group, now);
    state_.texts.release(task_group);
}

void PendingAsks::reshape(AllocationId id, ShapeId shape, std::int32_t priority, std::uint32_t task_group,
                          Instant now) noexcept {
    Allocation& ask = state_.allocations[id];
    if (shape == ask.shape && priority == ask.priority && task_group == ask.task_group) {
        state_.shapes.release(shape);
        return;
    }
    if (ask.reservation.valid()) { // void if the node cannot hold the ask, or is not the required one
        const Node& node = state_.nodes[state_.reservations[ask.reservation].node];
        const Shape& wanted = state_.shapes[shape];
        const bool elsewhere = wanted.required_node != state_.shapes[ask.shape].required_node;
        if (elsewhere || !could_take(node, wanted)) reservations_.drop(ask.reservation, now);
    }
    take(id, now);
    const ReservationId kept = ask.reservation;
    if (kept.valid()) reservations_.unlist(id);
    if (ask.is(Allocation::Triggered)) victim_marks_.change_promised(ask, false);
    state_.shapes.release(ask.shape);
    ask.shape = shape;
    ask.priority = priority;
    if (task_group != ask.task_group) task_groups_.change(id, task_group);
    if (ask.is(Allocation::Triggered)) victim_marks_.change_promised(ask, true);
    if (kept.valid()) {
        state_.shapes[shape].reserved.push_back(id);
        indexes_.wake(kept);
    }
    add(id, now);
}

void PendingAsks::remove(AllocationId id, bool timed_out, Instant now) noexcept {
    const Allocation& ask = state_.allocations[id];
    if (ask.reservation.valid()) reservations_.drop(ask.reservation, now);
    take(id, now);
    emit_request_removed(id, timed_out, now);
    destroy(id);
}

void PendingAsks::emit_request_removed(AllocationId id, bool timed_out, Instant now) noexcept {
    const Allocation& removed = state_.allocations[id];
    state_.emit({EventType::App,
                 EventChange::Remove,
                 timed_out ? EventDetail::RequestTimeout : EventDetail::RequestCancel,
                 state_.applications[removed.application].id,
                 removed.key.view(),
                 {},
                 &state_.resource_of(removed)},
                now);
}

ShapeId PendingAsks::shape_of(const AskSpec& spec) noexcept {
    const std::optional<Resource> size = state_.to_resource(spec.resource);
    YK_ASSUME(size.has_value(), "a request with too many resource types was refused");
    return state_.shapes.acquire(*size, find_tag(spec.tags, kRequiredNode), stated_devices(state_, spec));
}

AllocationId PendingAsks::make(const AskSpec& spec, ApplicationId application, ShapeId shape, Instant now) noexcept {
    const AllocationId id = state_.allocations.make();
    Allocation& made = state_.allocations[id];
    made.key.assign(spec.key);
    state_.budget_meter.add(Held::Asks);
    state_.budget_meter.add(Held::Names, bytes_of(spec.key));
    made.application = application;
    made.shape = shape;
    made.priority = spec.priority;
    made.created = creation_time(find_tag(spec.tags, kCreationTime)).value_or(now);
    made.arrival = state_.asks.next_arrival();
    made.tags = state_.tags.acquire(spec.tags);
    made.task_group = state_.texts.acquire(spec.task_group);
    made.mark(Allocation::Placeholder, spec.placeholder);
    made.mark(Allocation::Originator, spec.originator);
    made.mark(Allocation::PreemptSelf, spec.allow_preempt_self);
    made.mark(Allocation::PreemptOther, spec.allow_preempt_other);
    if (!application.valid()) return id;
    state_.asks.add(id);
    state_.expected.ask_arrived(state_.shapes, shape);
    if (spec.placeholder) task_groups_.count_placeholder(id);
    Application& owner = state_.applications[application];
    const Instant arrived = owner.state_log.front().first;
    if (made.created < arrived && made.created < owner.submitted) { // an ask that is older than its application (S-103)
        owner.submitted = made.created;
        indexes_.mark_dirty(application);
    }
    return id;
}

void PendingAsks::destroy(AllocationId id) noexcept {
    const Allocation& removed = state_.allocations[id];
    YK_ASSUME(!removed.group.valid() && !removed.reservation.valid(), "a pending ask is taken out before");
    if (!removed.is(Allocation::Foreign) && state_.preemption.knows_asks()) state_.preemption.forget(id);
    if (state_.inquiries.attempts > 0) state_.inquiries.forget_victim(id);
    if (removed.is(Allocation::Placeholder) && removed.application.valid()) task_groups_.count_placeholder_removed(id);
    if (removed.application.valid()) state_.asks.remove(id);
    state_.tags.release(removed.tags);
    state_.texts.release(removed.task_group);
    state_.shapes.release(removed.shape);
    state_.budget_meter.take(Held::Asks);
    state_.budget_meter.take(Held::Names, bytes_of(removed.key.view()));
    state_.allocations.destroy(id);
}

void PendingAsks::add(AllocationId id, Instant now) noexcept {
    const Allocation& ask = state_.allocations[id];
    Application& application = state_.applications[ask.application];
    const Resource& size = state_.resource_of(ask);
    state_.ledger.add_pending(application, size);
    application.tried_asks += ask.is(Allocation::Attempted) ? 1U : 0U;
    application.reported_asks += ask.is(Allocation::ScaleUp) ? 1U : 0U;
    ++state_.pending_asks;
    const bool grouped = ask.task_group != 0 && !ask.is(Allocation::Placeholder);
    if (grouped) task_groups_.list(id);
    join_group(id, now);
    if (grouped) task_groups_.changed(ask.application, ask.task_group);
}

[[gnu::hot]] void PendingAsks::take(AllocationId id, Instant now) noexcept {
    leave_group(id, now);
    const Allocation& ask = state_.allocations[id];
    if (ask.task_group != 0 && !ask.is(Allocation::Placeholder)) {
        task_groups_.unlist(id);
        task_groups_.changed(ask.application, ask.task_group);
    }
    Application& application = state_.applications[ask.application];
    const Resource& size = state_.resource_of(ask);
    state_.ledger.take_pending(application, size);
    application.tried_asks -= ask.is(Allocation::Attempted) ? 1U : 0U;
    application.reported_asks -= ask.is(Allocation::ScaleUp) ? 1U : 0U;
    --state_.pending_asks;
    indexes_.mark_dirty(ask.application);
}

void PendingAsks::join_group(AllocationId id, Instant now) noexcept {
    Allocation& ask = state_.allocations[id];
    const std::uint32_t task_group = ask.is(Allocation::Placeholder) ? 0 : ask.task_group;
    GroupId group = state_.settings.shortcuts.groups ? state_.asks.find_group(ask, task_group) : GroupId{};
    if (!group.valid()) {
        group = state_.groups.make();
        state_.groups[group].application = ask.application;
        state_.groups[group].shape = ask.shape;
        state_.groups[group].priority = ask.priority;
        state_.groups[group].task_group = task_group;
        if (task_group != 0) {
            TaskGroup& gang = task_groups_.find_or_make(state_.applications[ask.application], task_group);
            gang.ask_groups.push_back(group);
            state_.groups[group].replaceable = gang.open;
        }
        state_.asks.add_group(group);
        if (state_.shapes.add_group(ask.shape)) indexes_.shape_appeared(ask.shape);
    }
    ask.group = group;
    group_insert(state_.groups[group], id, state_.allocations);
    reservation_delays_.update(group, now);
    checks_.joined(id, now);
    attempt_log_.list_unreported(group);
    indexes_.mark_dirty(group);
}

void PendingAsks::leave_group(AllocationId id, Instant now) noexcept {
    Allocation& ask = state_.allocations[id];
    const GroupId group_id = ask.group;
    AskGroup& group = state_.groups[group_id];
    if (!state_.inquiries.by_ask.empty()) parked_asks_.forget(id);
    checks_.leaving(id);
    group_erase(group, id, state_.allocations);
    ask.group = {};
    if (group.count > 0) {
        reservation_delays_.update(group_id, now);
        if (group.checks) checks_.update(group_id, now);
        indexes_.mark_dirty(group_id);
        return;
    }
    state_.asks.remove_group(group_id);
    if (group.task_group != 0) {
        auto& members = task_groups_.find_or_make(state_.applications[group.application], group.task_group).ask_groups;
        members.erase(std::find(members.begin(), members.end(), group_id));
    }
    if (group.slot.in_index()) state_.applications[group.application].groups.erase(group_id.index);
    indexes_.mark_dirty(group.application);
    indexes_.forget(group_id);
    state_.shapes.remove_group(group.shape);
    state_.groups.destroy(group_id);
}

} // namespace yk
