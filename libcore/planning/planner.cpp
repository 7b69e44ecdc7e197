// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/planner.h"

#include <algorithm>

#include "libcore/planning/headroom.h"
#include "libcore/ports/cycle.h"
#include "libcore/state/walk.h"

namespace yk {

void Planner::begin_cycle(Instant now) {
    to_drop_.clear();
    failures_.clear();
    checks_.begin_cycle(now);
    for (const ApplicationId id : tried_with_backoff_) {
        if (!state_.applications.alive(id) || !state_.applications[id].tried_this_cycle) continue;
        state_.applications[id].tried_this_cycle = false;
        indexes_.mark_dirty(id);
    }
    tried_with_backoff_.clear();
    for (const GroupId id : gang_held_) {
        if (!state_.groups.alive(id) || !state_.groups[id].gang_held) continue;
        state_.groups[id].gang_held = false;
        indexes_.mark_dirty(id);
    }
    gang_held_.clear();
}

Plan Planner::plan_regular(Instant now) {
    while (true) {
        indexes_.refresh();
        // when no call is free, only what needs no call is tried (I-378)
        const Candidate candidate = find_candidate(state_.calls.full() ? Masks{kVisitBit, 0} : state_.shapes.open());
        if (!candidate.application.valid()) return {};
        if (hold_without_slot(candidate.application)) continue;
        if (candidate.ask.valid()) return try_answered(candidate.application, now);
        const Plan plan =
            candidate.group.valid() ? try_group(candidate.group, now) : try_with_backoff(candidate.application, now);
        if (plan && plan.kind != Plan::Kind::Wait) return plan;
    }
}

Planner::Candidate Planner::find_candidate(const Masks& wanted) const {
    Candidate found;
    Walk{state_.applications}.run(
        state_.queues.root(), wanted, true, [&](Application& application, ApplicationId id, const Masks& open) {
            if (application.answered > 0) {
                found = {id, {}, state_.inquiries.answered.at(id).front()};
                return true;
            }
            if (application.queue->properties.backoff_count > 0) {
                found = {id, {}};
                return true;
            }
            return application.groups.visit([&open](const Masks& below) { return below.any(open); },
                                            [&](std::uint32_t value) {
                                                const AskGroup& group = state_.groups[GroupId{value}];
                                                const bool checks = group.checks && group.checks->due;
                                                if (!checks && !passable(group)) return false;
                                                found = {id, GroupId{value}};
                                                return true;
                                            });
        });
    return found;
}

[[gnu::hot]] bool Planner::passable(const AskGroup& group) const {
    if (!group.first_free.valid()) return false;
    const Shape& shape = state_.shapes[group.shape];
    if (shape.blocked && (!group.due || shape.reserve_blocked || shape.is_pinned())) return false;
    for (const Queue* queue = state_.applications[group.application].queue; queue != nullptr; queue = queue->parent)
        if (queue->blocks(group.shape)) return false;
    return true;
}

/// Whether a limit of its user or group on running applications holds the application; if so it is skipped until a
/// slot is free (S-340).
[[gnu::hot]] bool Planner::hold_without_slot(ApplicationId id) {
    const UsageNodeId at = state_.refusing_user_slot(state_.applications[id]);
    if (at.valid()) indexes_.hold(id, at);
    return at.valid();
}

/// Tries the asks of a group: its first free one (S-341), then those that may preempt, in the order of asks (P-020).
Plan Planner::try_group(GroupId id, Instant now) {
    const AskGroup& group = state_.groups[id];
    if (!group.checks || !group.checks->due) return try_without_preemption(id, now);
    Plan plan;
    if (passable(group)) plan = try_first_free(id, now);
    if (plan.kind == Plan::Kind::Allocate || group.held_at.valid()) return plan;
    if (plan.kind == Plan::Kind::Wait) checks_.put_off(id, now); // its other asks as well
    if (plan.is_inquiry()) return plan;
    if (Plan preempting = try_preempting(id, plan.ask, now)) return preempting;
    return plan;
}

/// Tries the group's first free ask. If it fails and might preempt later, its log says that it may not yet (P-024).
Plan Planner::try_without_preemption(GroupId id, Instant now) {
    const AskGroup& group = state_.groups[id];
    const AllocationId ask = group.first_free;
    Plan plan = try_first_free(id, now);
    const bool failed = !plan && (group.note == AskGroup::Note::Queue || group.note == AskGroup::Note::Nodes);
    if (group.checks && failed && !group.held_at.valid() && !group.gang_held)
        state_.preemption.log(ask, PreemptionResult::Preconditions, now);
    return plan;
}

/// Tries the group's first free ask: user limits, queues, nodes (S-341). A failure blocks the shape where it failed.
[[gnu::hot]] Plan Planner::try_first_free(GroupId id, Instant now) {
    AskGroup& group = state_.groups[id];
    const AllocationId ask = group.first_free;
    const Application& application = state_.applications[group.application];
    const Resource& resource = state_.shapes[group.shape].resource;
    group_prefetch_next(ask, state_.allocations);
    if (application.queue->properties.gang_order && hold_for_gang(id)) return {};
    if (const UsageNodeId at = state_.refusing_user_limit(application, resource); at.valid()) {
        log_.note(group, ask, AskGroup::Note::User, now);
        indexes_.hold(id, at);
        return {};
    }
    log_.passed_user_limit(ask, now);
    const QueueVerdict verdict = queue_verdict(state_, *application.queue, state_.shapes[group.shape]);
    if (verdict.queue == nullptr) {
        log_.passed_headroom(ask, now);
        return try_nodes(ask, now);
    }
    log_.note(group, ask, verdict.quota ? AskGroup::Note::Queue : AskGroup::Note::Nodes, now);
    verdict.queue->block(group.shape, state_.shapes);
    indexes_.blocked(*verdict.queue);
    return {};
}

/// Whether the gang has to wait for this cycle, by property application.gang.order: none of its placeholders is placed,
/// another gang of its leaf has begun, and the leaf cannot hold both.
bool Planner::is_held_by_gang(const Application& application) const {
    if (application.placeholders > 0) return false;
    Resource wanted = application.placeholder_ask;
    bool begun = false;
    for (const ApplicationId id : application.queue->applications) {
        const Application& other = state_.applications[id];
        if (&other == &application || other.placeholders == 0 || other.state != ApplicationState::Accepted) continue;
        begun = true;
        wanted.add(other.placeholder_ask);
        wanted.sub(other.placeholder);
    }
    return begun && !application.queue->headroom().allows(wanted);
}

bool Planner::hold_for_gang(GroupId id) {
    AskGroup& group = state_.groups[id];
    if (!state_.allocations[group.first_free].is(Allocation::Placeholder)) return false;
    if (!is_held_by_gang(state_.applications[group.application])) return false;
    group.gang_held = true;
    gang_held_.push_back(id);
    indexes_.mark_dirty(id);
    return true;
}

/// Looks for a node to place the ask on, else for one to reserve (S-341 steps 7 and 8, S-403).
[[gnu::hot]] Plan Planner::try_nodes(AllocationId ask, Instant now) {
    const Allocation& wanted = state_.allocations[ask];
    const Shape& shape = state_.shapes[wanted.shape];
    if (shape.is_pinned()) return try_pinned(ask, now);
    if (state_.calls.options.predicates) return try_checked(ask, now);
    if (!shape.blocked) {
        const StageScope stage{state_.observer, Stage::FindNode};
        const NodeId node = state_.nodes.find_first(wanted.shape);
        if (node.valid()) return {Plan::Kind::Allocate, ask, node};
        state_.shapes.block(wanted.shape);
    }
    log_.note(state_.groups[wanted.group], ask, AskGroup::Note::Nodes, now);
    if (!may_reserve(wanted, now)) return {};
    const NodeId node = state_.nodes.find_to_reserve(shape);
    if (node.valid()) return {Plan::Kind::Reserve, ask, node};
    state_.shapes.block_reserve(wanted.shape);
    return {};
}

/// Whether the ask is old enough to reserve a node, has none, and a node may be there for it (S-403).
bool Planner::may_reserve(const Allocation& ask, Instant now) const {
    return !state_.settings.reservations_disabled && !ask.reservation.valid() &&
           now - ask.created > state_.settings.reservation_delay && !state_.shapes[ask.shape].reserve_blocked;
}

/// Looks up the required node of the ask directly, instead of searching (S-430 to S-435).
Plan Planner::try_pinned(AllocationId ask, Instant now) {
    const Allocation& wanted = state_.allocations[ask];
    const Shape& shape = state_.shapes[wanted.shape];
    const NodeId node = state_.nodes.find(shape.required_node);
    if (!node.valid()) { // a required node that does not exist (S-431)
        state_.shapes.block(wanted.shape);
        return {};
    }
    if (can_take(node, ask))
        if (Plan plan = checked({Plan::Kind::Allocate, ask, node})) return plan;
    if (wanted.reservation.valid()) return {};
    if (could_take(state_.nodes[node], shape)) return {Plan::Kind::Reserve, ask, node};
    state_.shapes.block(wanted.shape); // larger than the node: not tried there, so reservations on it stay (S-435)
    log_.note(state_.groups[wanted.group], ask, AskGroup::Note::Nodes, now);
    return {};
}

bool Planner::is_pinned(ReservationId id) const {
    return state_.shapes[state_.allocations[state_.reservations[id].ask].shape].is_pinned();
}

/// Whether the node has enough available and is not kept for another ask (S-343). Reservations of asks without a
/// required node do not keep an ask away from the node that it requires (S-432).
bool Planner::can_take(NodeId id, AllocationId ask) const {
    const StageScope stage{state_.observer, Stage::TryNode};
    const Node& node = state_.nodes[id];
    const Allocation& wanted = state_.allocations[ask];
    if (!takes(node, state_.shapes[wanted.shape])) return false;
    if (wanted.reservation.valid() && state_.reservations[wanted.reservation].node == id) return true;
    const bool pinned = state_.shapes[wanted.shape].is_pinned();
    return std::all_of(node.reservations.begin(), node.reservations.end(),
                       [&](ReservationId held) { return pinned && !is_pinned(held); });
}

} // namespace yk
