#include "libcore/scheduler/planner.h"

#include <algorithm>

#include "libcore/scheduler/headroom.h"
#include "libcore/scheduler/stage.h"
#include "libcore/scheduler/walk.h"

namespace yk {

void Planner::begin_cycle(Instant now) {
    to_drop_.clear();
    failures_.clear();
    checks_.begin_cycle(now);
    if (!s_.settings.shortcuts.blocks) orders_.drop_blocks();
    for (const ApplicationId id : counted_) {
        if (!s_.applications.alive(id) || !s_.applications[id].counted) continue;
        s_.applications[id].counted = false;
        orders_.touch(id);
    }
    counted_.clear();
    for (const GroupId id : gang_held_) {
        if (!s_.groups.alive(id) || !s_.groups[id].gang_held) continue;
        s_.groups[id].gang_held = false;
        orders_.touch(id);
    }
    gang_held_.clear();
}

Plan Planner::plan_regular(Instant now) {
    while (true) {
        orders_.refresh();
        // without a free call only what needs none is worth a look (I-378)
        const Candidate candidate = find_candidate(s_.calls.full() ? Masks{kVisitBit, 0} : s_.shapes.open());
        if (!candidate.application.valid()) return {};
        if (hold_without_slot(candidate.application)) continue;
        if (candidate.ask.valid()) return try_answered(candidate.application, now);
        const Plan plan =
            candidate.group.valid() ? try_group(candidate.group, now) : try_counting(candidate.application, now);
        if (plan && plan.kind != Plan::Kind::Wait) return plan;
    }
}

Planner::Candidate Planner::find_candidate(const Masks& wanted) const {
    Candidate found;
    Walk{s_.applications}.run(
        *s_.root, wanted, true, [&](Application& application, ApplicationId id, const Masks& open) {
            if (application.answered > 0) {
                found = {id, {}, s_.inquiries.answered.at(id).front()};
                return true;
            }
            if (application.queue->properties.backoff_count > 0) {
                found = {id, {}};
                return true;
            }
            return application.groups.visit([&open](const Masks& below) { return below.any(open); },
                                            [&](std::uint32_t value) {
                                                const AskGroup& group = s_.groups[GroupId{value}];
                                                const bool checks = group.checks && group.checks->due;
                                                if (!checks && !passable(group)) return false;
                                                found = {id, GroupId{value}};
                                                return true;
                                            });
        });
    return found;
}

bool Planner::passable(const AskGroup& group) const {
    if (!group.first_free.valid()) return false;
    const Shape& shape = s_.shapes[group.shape];
    if (shape.blocked && (!group.due || shape.reserve_blocked || shape.is_pinned())) return false;
    for (const Queue* queue = s_.applications[group.application].queue; queue != nullptr; queue = queue->parent)
        if (queue->blocks(group.shape)) return false;
    return true;
}

/// S-340: an application that its user or group may not run any more of is skipped until one ends.
bool Planner::hold_without_slot(ApplicationId id) {
    const UsageNodeId at = s_.refusing_user_slot(s_.applications[id]);
    if (at.valid()) orders_.hold(id, at);
    return at.valid();
}

/// S-341 for the asks of a group: its first free one, and those that may preempt (P-020, in the order of asks).
Plan Planner::try_group(GroupId id, Instant now) {
    const AskGroup& group = s_.groups[id];
    if (!group.checks || !group.checks->due) return try_without_preemption(id, now);
    Plan plan;
    if (passable(group)) plan = try_first_free(id, now);
    if (plan.kind == Plan::Kind::Allocate || group.held_at.valid()) return plan;
    if (plan.kind == Plan::Kind::Wait) checks_.put_off(id, now); // its other asks as well
    if (plan.is_inquiry()) return plan;
    if (Plan preempting = try_preempting(id, plan.ask, now)) return preempting;
    return plan;
}

/// An ask that might preempt later: that it may not yet is in its log (P-024).
Plan Planner::try_without_preemption(GroupId id, Instant now) {
    const AskGroup& group = s_.groups[id];
    const AllocationId ask = group.first_free;
    Plan plan = try_first_free(id, now);
    const bool failed = !plan && (group.note == AskGroup::Note::Queue || group.note == AskGroup::Note::Nodes);
    if (group.checks && failed && !group.held_at.valid() && !group.gang_held)
        s_.preemption.log(ask, PreemptionResult::Preconditions, now);
    return plan;
}

/// S-341 for the group's first free ask. A failure leaves the shape blocked where it failed.
Plan Planner::try_first_free(GroupId id, Instant now) {
    AskGroup& group = s_.groups[id];
    const AllocationId ask = group.first_free;
    const Application& application = s_.applications[group.application];
    const Resource& resource = s_.shapes[group.shape].resource;
    if (application.queue->properties.gang_order && hold_for_gang(id)) return {};
    if (const UsageNodeId at = s_.refusing_user_limit(application, resource); at.valid()) {
        notes_.note(group, ask, AskGroup::Note::User, now);
        orders_.hold(id, at);
        return {};
    }
    notes_.passed_user_limit(ask, now);
    const QueueVerdict verdict = queue_verdict(s_, *application.queue, s_.shapes[group.shape]);
    if (verdict.queue == nullptr) {
        notes_.passed_headroom(ask, now);
        return try_nodes(ask, now);
    }
    notes_.note(group, ask, verdict.quota ? AskGroup::Note::Queue : AskGroup::Note::Nodes, now);
    verdict.queue->block(group.shape, s_.shapes);
    orders_.blocked(*verdict.queue);
    return {};
}

/// application.gang.order: a gang of which nothing is placed waits, until the next cycle looks again, while another of
/// its leaf has begun and both do not fit.
bool Planner::is_held_by_gang(const Application& application) const {
    if (application.placeholders > 0) return false;
    Resource wanted = application.placeholder_ask;
    bool begun = false;
    for (const ApplicationId id : application.queue->applications) {
        const Application& other = s_.applications[id];
        if (&other == &application || other.placeholders == 0 || other.state != ApplicationState::Accepted) continue;
        begun = true;
        wanted.add(other.placeholder_ask);
        wanted.sub(other.placeholder);
    }
    return begun && !application.queue->headroom().allows(wanted);
}

bool Planner::hold_for_gang(GroupId id) {
    AskGroup& group = s_.groups[id];
    if (!s_.allocations[group.first_free].is(Allocation::Placeholder)) return false;
    if (!is_held_by_gang(s_.applications[group.application])) return false;
    group.gang_held = true;
    gang_held_.push_back(id);
    orders_.touch(id);
    return true;
}

/// S-341 steps 7 and 8 with S-403.
Plan Planner::try_nodes(AllocationId ask, Instant now) {
    const Allocation& wanted = s_.allocations[ask];
    const Shape& shape = s_.shapes[wanted.shape];
    if (shape.is_pinned()) return try_pinned(ask, now);
    if (s_.calls.options.predicates) return try_checked(ask, now);
    if (!shape.blocked) {
        const StageScope stage{s_.observer, Stage::FindNode};
        const NodeId node = s_.nodes.find_first(wanted.shape);
        if (node.valid()) return {Plan::Kind::Allocate, ask, node};
        s_.shapes.block(wanted.shape);
    }
    notes_.note(s_.groups[wanted.group], ask, AskGroup::Note::Nodes, now);
    if (!may_reserve(wanted, now)) return {};
    const NodeId node = s_.nodes.find_to_reserve(shape);
    if (node.valid()) return {Plan::Kind::Reserve, ask, node};
    s_.shapes.block_reserve(wanted.shape);
    return {};
}

/// S-403: whether the ask is old enough, and a node may be there for it.
bool Planner::may_reserve(const Allocation& ask, Instant now) const {
    return !s_.settings.reservations_disabled && !ask.reservation.valid() &&
           now - ask.created > s_.settings.reservation_delay && !s_.shapes[ask.shape].reserve_blocked;
}

/// Section 9: the ask's required node is looked up directly.
Plan Planner::try_pinned(AllocationId ask, Instant now) {
    const Allocation& wanted = s_.allocations[ask];
    const Shape& shape = s_.shapes[wanted.shape];
    const NodeId node = s_.nodes.find(shape.required_node);
    if (!node.valid()) { // S-431
        s_.shapes.block(wanted.shape);
        return {};
    }
    if (can_take(node, ask))
        if (Plan plan = checked({Plan::Kind::Allocate, ask, node})) return plan;
    if (wanted.reservation.valid()) return {};
    if (fits(s_.nodes[node].capacity, shape.resource)) return {Plan::Kind::Reserve, ask, node};
    s_.shapes.block(wanted.shape); // S-435: never tried on the node, so reservations there stay
    notes_.note(s_.groups[wanted.group], ask, AskGroup::Note::Nodes, now);
    return {};
}

bool Planner::is_pinned(ReservationId id) const {
    return s_.shapes[s_.allocations[s_.reservations[id].ask].shape].is_pinned();
}

/// S-343 for a node reached directly. Ordinary reservations do not stand against a required-node ask (S-432).
bool Planner::can_take(NodeId id, AllocationId ask) const {
    const StageScope stage{s_.observer, Stage::TryNode};
    const Node& node = s_.nodes[id];
    const Allocation& wanted = s_.allocations[ask];
    if (!fits(node.available, s_.resource_of(wanted))) return false;
    if (wanted.reservation.valid() && s_.reservations[wanted.reservation].node == id) return true;
    const bool pinned = s_.shapes[wanted.shape].is_pinned();
    return std::all_of(node.reservations.begin(), node.reservations.end(),
                       [&](ReservationId held) { return pinned && !is_pinned(held); });
}

} // namespace yk
