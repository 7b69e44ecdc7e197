#include "libcore/scheduler/planner.h"

#include <algorithm>

#include "libcore/scheduler/stage.h"
#include "libcore/scheduler/walk.h"

namespace yk {

namespace {

constexpr Duration kLeastWait = std::chrono::milliseconds{100}; // between two events of one ask

} // namespace

// --- step 3
// ------------------------------------------------------------------------------------------------------------

bool Planner::passable(const AskGroup& group) const {
    if (!group.first_free.valid()) return false;
    const Shape& shape = s_.shapes[group.shape];
    if (shape.blocked && (!group.due || shape.reserve_blocked || shape.is_pinned())) return false;
    for (const Queue* queue = s_.applications[group.application].queue; queue != nullptr; queue = queue->parent)
        if (queue->blocks(group.shape)) return false;
    return true;
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

Planner::QueueVerdict Planner::queue_verdict(Queue& leaf, const Shape& shape) const {
    const Queue* end = shape.is_pinned() ? s_.root.get() : nullptr;
    QueueVerdict verdict;
    for (Queue* queue = &leaf; queue != end; queue = queue->parent) {
        if (!queue->headroom_allows(shape.resource)) verdict = {queue, true};
    }
    if (verdict.queue != nullptr) return verdict;
    for (Queue* queue = &leaf; queue != end; queue = queue->parent)
        if (!queue->allows_increase(shape.resource)) verdict = {queue, false};
    return verdict;
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

/// Point A or B of P-020; nullopt: neither.
std::optional<bool> Planner::nodes_tried(const Allocation& ask) const {
    const QueueVerdict verdict = queue_verdict(*s_.applications[ask.application].queue, s_.shapes[ask.shape]);
    if (verdict.queue == nullptr) return true;
    if (verdict.quota) return false;
    return std::nullopt;
}

/// The group's asks that may attempt a preemption now, those in front of `before` only when there is one.
Plan Planner::try_preempting(GroupId id, AllocationId before, Instant now) {
    const Application& application = s_.applications[s_.groups[id].application];
    if (const UsageNodeId at = s_.refusing_user_limit(application, s_.shapes[s_.groups[id].shape].resource);
        at.valid()) {
        orders_.hold(id, at); // P-020: an ask beyond the user headroom never attempts
        return {};
    }
    while (true) {
        const AllocationId ask = checks_.next(id, now);
        if (!ask.valid()) break;
        if (before.valid() && !(order_of(s_.allocations[ask]) < order_of(s_.allocations[before]))) return {};
        std::optional<Plan> plan = attempt(ask, now);
        if (!plan) {
            checks_.put_off(id, now);
            return {};
        }
        if (*plan) return std::move(*plan);
    }
    checks_.update(id, now);
    return {};
}

/// One attempt (P-024); nullopt: the leaf's budget is used up.
std::optional<Plan> Planner::attempt(AllocationId id, Instant now) {
    const Allocation& ask = s_.allocations[id];
    const Queue* leaf = s_.applications[ask.application].queue;
    const std::optional<bool> tried = nodes_tried(ask);
    const bool asks = s_.calls.options.preemption_predicates;
    if (asks && s_.calls.full()) return std::nullopt;
    if (!checks_.begin(id, now)) {
        s_.preemption.log(id, PreemptionResult::Exhausted, now);
        return std::nullopt;
    }
    if (!tried) return Plan{};
    if (asks) return begin_offering(id, *tried, now);
    auto same = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& each) {
        return each.leaf == leaf && each.shape == ask.shape && each.priority == ask.priority;
    });
    if (same == failures_.end() || ask.reservation.valid()) { // its own reservation makes a difference
        const StageScope stage{s_.observer, Stage::Preempt};
        PreemptionPlan plan = preemption_.plan_queue(id, *tried, now);
        if (plan) {
            note_attempt(id, std::move(plan.attempt), now);
            return Plan{Plan::Kind::Preempt, id, plan.node, std::move(plan.victims)};
        }
        same = failures_.insert(failures_.end(), {leaf, ask.shape, ask.priority, std::move(plan.attempt)});
    }
    note_attempt(id, same->attempt, now);
    return Plan{};
}

void Planner::note_attempt(AllocationId ask, PreemptionAttempt attempt, Instant now) {
    if (attempt.result != PreemptionResult::Victims) s_.preemption.log(ask, attempt.result, now);
    s_.preemption.attempts[ask] = std::move(attempt);
}

/// S-341 for the group's first free ask. A failure leaves the shape blocked where it failed.
Plan Planner::try_first_free(GroupId id, Instant now) {
    AskGroup& group = s_.groups[id];
    const AllocationId ask = group.first_free;
    const Application& application = s_.applications[group.application];
    const Resource& resource = s_.shapes[group.shape].resource;
    if (application.queue->properties.gang_order && hold_for_gang(id)) return {};
    if (const UsageNodeId at = s_.refusing_user_limit(application, resource); at.valid()) {
        note(group, ask, AskGroup::Note::User, now);
        orders_.hold(id, at);
        return {};
    }
    passed_user_limit(ask, now);
    const QueueVerdict verdict = queue_verdict(*application.queue, s_.shapes[group.shape]);
    if (verdict.queue == nullptr) {
        passed_headroom(ask, now);
        return try_nodes(ask, now);
    }
    note(group, ask, verdict.quota ? AskGroup::Note::Queue : AskGroup::Note::Nodes, now);
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
    note(s_.groups[wanted.group], ask, AskGroup::Note::Nodes, now);
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
        if (Plan plan = checked({Plan::Kind::Allocate, ask, node, {}})) return plan;
    if (wanted.reservation.valid()) return {};
    if (fits(s_.nodes[node].capacity, shape.resource)) return {Plan::Kind::Reserve, ask, node};
    s_.shapes.block(wanted.shape); // S-435: never tried on the node, so reservations there stay
    note(s_.groups[wanted.group], ask, AskGroup::Note::Nodes, now);
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

/// S-345: in a leaf with back-off each ask that finds no node counts, so the asks are walked one by one. What failed
/// once fails for its equals: a group that failed the headroom is dropped and no search is made twice.
Plan Planner::try_counting(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    application.counted = true; // once in this cycle
    counted_.push_back(id);
    orders_.touch(id);
    const auto later = [this](AllocationId a, AllocationId b) {
        return order_of(s_.allocations[b]) < order_of(s_.allocations[a]);
    };
    std::vector<AllocationId> heads;
    application.groups.for_each([&](std::uint32_t group) { heads.push_back(s_.groups[GroupId{group}].head); });
    std::make_heap(heads.begin(), heads.end(), later);
    std::uint64_t unschedulable = 0;
    while (!heads.empty()) {
        if (unschedulable == application.queue->properties.backoff_count) {
            application.backoff_until = now + application.queue->properties.backoff_delay;
            application.backing_off = true;
            s_.timers.set(*application.backoff_until, TimerKind::BackOff, id.index);
            return {};
        }
        std::pop_heap(heads.begin(), heads.end(), later);
        const AllocationId ask = heads.back();
        heads.pop_back();
        const AskGroup& group = s_.groups[s_.allocations[ask].group];
        Counted outcome = group.replaceable ? Counted{} : try_counted(ask, now); // G-030
        if (outcome.plan.kind == Plan::Kind::Wait) outcome = {};                 // the others may need no call
        if (outcome.plan.is_inquiry()) application.counted = false;              // and once more with that
        if (outcome.plan) return outcome.plan;
        if (outcome.group_failed && !group.first_untouched.valid()) continue; // its equals are noted, too
        unschedulable += outcome.unschedulable ? 1U : 0U;
        if (const AllocationId next{s_.allocations[ask].place.pending.next}; next.valid()) {
            heads.push_back(next);
            std::push_heap(heads.begin(), heads.end(), later);
        }
    }
    return {};
}

/// The walk itself noted the ask: the cursor of those that wait for it moves on.
void Planner::touched(AskGroup& group, AllocationId ask) {
    if (group.first_untouched == ask) group.first_untouched = {s_.allocations[ask].place.pending.next};
}

/// P-020 for an ask of a leaf with back-off.
Plan Planner::attempt_counted(AllocationId ask, Instant now) {
    const GroupId group = s_.allocations[ask].group;
    if (!s_.groups[group].checks) return {};
    if (!checks_.is_due(s_.allocations[ask], now)) {
        s_.preemption.log(ask, PreemptionResult::Preconditions, now);
        return {};
    }
    std::optional<Plan> plan = attempt(ask, now);
    checks_.update(group, now);
    return plan ? std::move(*plan) : Plan{};
}

Planner::Counted Planner::try_counted(AllocationId ask, Instant now) {
    const Allocation& wanted = s_.allocations[ask];
    if (wanted.is(Allocation::Parked)) { // a refused one was tried everywhere
        const bool refused = wanted.is(Allocation::Refused);
        return {refused ? attempt_counted(ask, now) : Plan{}, false, refused};
    }
    AskGroup& group = s_.groups[wanted.group];
    const Application& application = s_.applications[wanted.application];
    if (s_.refusing_user_limit(application, s_.resource_of(wanted)).valid()) {
        note(group, ask, AskGroup::Note::User, now);
        touched(group, ask);
        return {{}, true, false};
    }
    passed_user_limit(ask, now);
    const QueueVerdict verdict = queue_verdict(*application.queue, s_.shapes[wanted.shape]);
    if (verdict.queue != nullptr) {
        note(group, ask, verdict.quota ? AskGroup::Note::Queue : AskGroup::Note::Nodes, now);
        touched(group, ask);
        return {attempt_counted(ask, now), true, false};
    }
    passed_headroom(ask, now);
    Plan plan = try_nodes(ask, now);
    if (!plan) plan = attempt_counted(ask, now);
    if (!plan) touched(group, ask);
    const Shape& shape = s_.shapes[wanted.shape];
    if (plan || !shape.is_pinned()) return {plan, false, true};
    const NodeId node = s_.nodes.find(shape.required_node); // S-433: only one too large for its node counts
    return {plan, false, node.valid() && !fits(s_.nodes[node].capacity, shape.resource)};
}

// --- step 1
// ------------------------------------------------------------------------------------------------------------

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
        if (reservation.stalled) continue;
        const Shape& wanted = s_.shapes[s_.allocations[reservation.ask].shape];
        if (s_.refusing_user_limit(application, wanted.resource).valid() ||
            queue_verdict(*application.queue, wanted).queue != nullptr) {
            stall(held, true);
            const bool over_age = now - reservation.since > s_.settings.reservation_timeout;
            if (over_age && !is_pinned(held)) to_drop_.push_back({held, reservation.sequence});
            continue;
        }
        if (Plan eviction = try_evicting(held, now)) return eviction;
        if (s_.allocations[reservation.ask].is(Allocation::Parked)) {
            stall(held, false); // until its RM has answered
            continue;
        }
        const bool usable = s_.nodes[reservation.node].schedulable || is_pinned(held);
        if (usable && can_take(reservation.node, reservation.ask))
            if (Plan plan =
                    unless_waiting(held, checked({Plan::Kind::Allocate, reservation.ask, reservation.node, {}})))
                return plan;
        failed.push_back(held);
    }
    for (const ReservationId held : failed) { // then on any other
        const AllocationId ask = s_.reservations[held].ask;
        const ShapeId shape = s_.allocations[ask].shape;
        if (s_.calls.options.predicates) {
            if (Plan plan = unless_waiting(held, try_elsewhere(ask))) return plan;
            continue;
        }
        if (is_pinned(held) || s_.shapes[shape].blocked) continue;
        const NodeId node = s_.nodes.find_first(shape);
        if (node.valid()) return {Plan::Kind::Allocate, ask, node};
        s_.shapes.block(shape);
    }
    for (const ReservationId held : failed) stall(held, false);
    return {};
}

/// P-093: a required-node ask that its node has no room for chooses victims, once.
Plan Planner::try_evicting(ReservationId id, Instant now) {
    const Reservation& reservation = s_.reservations[id];
    const Allocation& ask = s_.allocations[reservation.ask];
    const bool wanted = is_pinned(id) && !ask.is(Allocation::Triggered) &&
                        !fits(s_.nodes[reservation.node].available, s_.resource_of(ask));
    if (!wanted) return {};
    const StageScope stage{s_.observer, Stage::Preempt};
    PreemptionPlan plan = preemption_.plan_required(reservation.ask, now);
    s_.preemption.attempts[reservation.ask] = std::move(plan.attempt);
    if (!plan) tell_no_victim(reservation.ask, now);
    if (plan.victims.empty()) return {};
    return {Plan::Kind::Evict, reservation.ask, reservation.node, std::move(plan.victims)};
}

/// P-097.
void Planner::tell_no_victim(AllocationId id, Instant now) {
    s_.preemption.log(id, PreemptionResult::NoVictim, now);
    const auto [told, first] = s_.preemption.no_victim_told.try_emplace(id, now);
    if (!first && now < told->second + s_.settings.preemption_throttle) return;
    told->second = now;
    const Allocation& ask = s_.allocations[id];
    const Duration again = std::max<Duration>(s_.settings.preemption_throttle, kLeastWait);
    s_.timers.set(now + again, TimerKind::NoVictim, ask.reservation.index, s_.reservations[ask.reservation].sequence);
    const std::string message = "Unschedulable request '" + std::string{ask.key.view()} + "' with required node '" +
                                s_.shapes[ask.shape].required_node + "', no preemption victim found";
    s_.tell({EventType::Request, EventChange::None, EventDetail::None, ask.key.view(),
             s_.applications[ask.application].id, message, &s_.resource_of(ask)},
            now);
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

// --- what an attempt leaves behind (S-113, S-114, S-605) -------------------------------------------------------------

/// S-605. `verdict` follows the key.
void Planner::tell_room(const Allocation& ask, const std::string& verdict, const Limit& room, Instant now) {
    const Resource& wanted = s_.resource_of(ask);
    const std::string message = "Request '" + std::string{ask.key.view()} + "' " + verdict + " (requested " +
                                s_.named(wanted).text() + ", available " + s_.named(room.bounds()).text() + ")";
    s_.tell({EventType::Request, EventChange::None, EventDetail::None, ask.key.view(),
             s_.applications[ask.application].id, message, &wanted},
            now);
}

void Planner::tell_headroom(const Allocation& ask, bool fits_now, Instant now) {
    const Queue& leaf = *s_.applications[ask.application].queue;
    const std::string verdict = fits_now ? "fits again in queue '" : "does not fit in queue '";
    tell_room(ask, verdict + leaf.path + "'", leaf.headroom(), now);
}

void Planner::tell_user_limit(const Allocation& ask, bool fits_now, Instant now) {
    const Application& application = s_.applications[ask.application];
    Limit room = s_.users.headroom(application.user_usage);
    room.tighten(s_.users.headroom(application.group_usage));
    tell_room(ask, fits_now ? "fits in the available user quota" : "exceeds the available user quota", room, now);
}

/// The order of the attempts: user, queue, nodes (S-253).
AskGroup::Note Planner::headroom_note(const Application& application, const Shape& shape) const {
    if (s_.refusing_user_limit(application, shape.resource).valid()) return AskGroup::Note::User;
    return queue_verdict(*application.queue, shape).quota ? AskGroup::Note::Queue : AskGroup::Note::Nodes;
}

void Planner::note_on(AllocationId id, AskGroup::Note why, Instant now) {
    if (why == AskGroup::Note::User) return failed_user_limit(id, now);
    passed_user_limit(id, now);
    if (why == AskGroup::Note::Queue)
        failed_headroom(id, now);
    else
        passed_headroom(id, now);
}

/// S-113.
void Planner::attempted(Allocation& ask) {
    if (ask.is(Allocation::Attempted)) return;
    ask.mark(Allocation::Attempted);
    s_.worth_inspecting = true;
}

void Planner::passed_user_limit(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    attempted(ask);
    if (!ask.is(Allocation::UserFailed)) return;
    ask.mark(Allocation::UserFailed, false);
    tell_user_limit(ask, true, now);
}

void Planner::failed_user_limit(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    if (ask.is(Allocation::UserFailed)) return;
    ask.mark(Allocation::UserFailed);
    ask.mark(Allocation::UserLogged);
    tell_user_limit(ask, false, now);
}

void Planner::passed_headroom(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    attempted(ask);
    if (!ask.is(Allocation::QueueFailed)) return;
    ask.mark(Allocation::QueueFailed, false);
    tell_headroom(ask, true, now);
}

void Planner::failed_headroom(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    attempted(ask);
    if (ask.is(Allocation::QueueFailed)) return;
    ask.mark(Allocation::QueueFailed);
    ask.mark(Allocation::QuotaLogged);
    tell_headroom(ask, false, now);
}

void Planner::note(AskGroup& group, AllocationId ask, AskGroup::Note why, Instant now) {
    if (why == AskGroup::Note::User) failed_user_limit(ask, now);
    if (why == AskGroup::Note::Queue) failed_headroom(ask, now);
    if (why == AskGroup::Note::User || why == AskGroup::Note::Queue) {
        AskGroup::Failures& failures = why == AskGroup::Note::User ? group.user_failures : group.queue_failures;
        failures.last = now;
        ++failures.count;
    }
    if (group.note == why) return;
    group.note = why;
    group.first_untouched = group.head; // the others of the group are passed over for another reason from now on
    list_untouched(s_.allocations[ask].group);
}

void Planner::list_untouched(GroupId id) {
    AskGroup& group = s_.groups[id];
    if (group.in_untouched) return;
    group.in_untouched = true;
    s_.untouched.push_back(id);
}

void Planner::note_passed_over(Instant now) {
    std::vector<GroupId> later; // of applications that are not considered at all
    for (const GroupId id : s_.untouched) {
        if (!s_.groups.alive(id) || !s_.groups[id].in_untouched) continue;
        AskGroup& group = s_.groups[id];
        if (group.replaceable) { // not tried at all, so nothing is left behind; listed again when it is
            group.in_untouched = false;
            continue;
        }
        if (!is_considered(s_.applications[group.application])) {
            later.push_back(id);
            continue;
        }
        group.in_untouched = false;
        if (!group.first_untouched.valid()) continue;
        group.note = headroom_note(s_.applications[group.application], s_.shapes[group.shape]);
        for (AllocationId ask = group.first_untouched; ask.valid(); ask = {s_.allocations[ask].place.pending.next})
            note_on(ask, group.note, now);
        group.first_untouched = {};
    }
    s_.untouched.swap(later);
}

/// S-340: whether the walk would have tried the application's asks.
bool Planner::is_considered(const Application& application) const {
    return !application.backing_off && has_slot(application) && has_user_slot(application);
}

bool Planner::has_user_slot(const Application& application) const {
    return !s_.refusing_user_slot(application).valid();
}

bool Planner::has_slot(const Application& application) const {
    if (!application.needs_slot()) return true;
    for (const Queue* queue = application.queue; queue != nullptr; queue = queue->parent)
        if (!queue->has_free_slot()) return false;
    return true;
}

} // namespace yk
