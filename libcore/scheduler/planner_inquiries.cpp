// The planner's part with an RM that has predicates: which nodes it is asked about, and what its answer leads to
// (I-377, S-342, S-343, S-403).

#include <algorithm>
#include <utility>

#include "libcore/scheduler/headroom.h"
#include "libcore/scheduler/planner.h"

namespace yk {

Plan Planner::ask_for(AllocationId ask, std::vector<NodeId> nodes, Plan::Kind kind) {
    if (s_.calls.full()) return {Plan::Kind::Wait, ask, {}};
    to_ask_ = std::move(nodes);
    return {kind, ask, {}};
}

bool Planner::is_refused(AllocationId ask) const {
    const Inquiry* inquiry = s_.inquiries.find(ask);
    return inquiry != nullptr && (!inquiry->refused.empty() || inquiry->reserve_refused);
}

/// The first node of the answer that still takes the ask (I-377); the answer is used up.
NodeId Planner::take_fitting(AllocationId ask) {
    Inquiry* inquiry = s_.inquiries.find(ask);
    if (inquiry == nullptr) return {};
    const std::vector<NodeId> fitting = std::exchange(inquiry->fits, {});
    const auto found = std::find_if(fitting.begin(), fitting.end(),
                                    [&](NodeId node) { return s_.nodes[node].is_open() && can_take(node, ask); });
    return found == fitting.end() ? NodeId{} : *found;
}

/// The next nodes in order for a call.
std::vector<NodeId> Planner::next_nodes(AllocationId ask) const {
    const Inquiry* inquiry = s_.inquiries.find(ask);
    return s_.nodes.find_some(s_.shapes[s_.allocations[ask].shape], s_.calls.options.batch,
                              [inquiry](NodeId node) { return inquiry != nullptr && inquiry->has_refused(node); });
}

/// The plan when its one node is all right, a call when that is not known; none when it was refused.
Plan Planner::checked(const Plan& plan) {
    if (!s_.calls.options.predicates) return plan;
    if (Inquiry* inquiry = s_.inquiries.find(plan.ask)) {
        if (inquiry->has_refused(plan.node)) return {};
        const bool fits = std::count(inquiry->fits.begin(), inquiry->fits.end(), plan.node) > 0;
        if (fits) inquiry->fits.clear();
        if (fits) return plan;
    }
    return ask_for(plan.ask, {plan.node}, Plan::Kind::Ask);
}

/// An answer is looked at when its application comes up, in front of the application's other asks. The ask is still
/// parked.
Plan Planner::try_answered(ApplicationId id, Instant now) {
    const auto list = s_.inquiries.answered.find(id);
    const AllocationId ask = list->second.front();
    list->second.erase(list->second.begin());
    if (list->second.empty()) s_.inquiries.answered.erase(list);
    Application& application = s_.applications[id];
    --application.answered;
    orders_.touch(id);
    if (s_.inquiries.find(ask)->attempt) return go_on_offering(ask, now);
    const Allocation& wanted = s_.allocations[ask];
    const Resource& resource = s_.resource_of(wanted);
    const bool elsewhere = wanted.reservation.valid() || s_.groups[wanted.group].replaceable; // steps 1 and 2
    if (elsewhere || s_.refusing_user_limit(application, resource).valid() ||
        queue_verdict(s_, *application.queue, s_.shapes[wanted.shape]).queue != nullptr) {
        s_.inquiries.find(ask)->begin_round(); // by the time there is room the answer is old
        return {Plan::Kind::Resume, ask, {}};
    }
    notes_.passed_user_limit(ask, now);
    notes_.passed_headroom(ask, now);
    Plan plan = try_nodes(ask, now);
    if (!plan || plan.kind == Plan::Kind::Wait) return {Plan::Kind::Resume, ask, {}};
    return plan;
}

/// S-341 steps 8 and S-403 for an ask without required node.
Plan Planner::try_checked(AllocationId ask, Instant now) {
    const Allocation& wanted = s_.allocations[ask];
    const Shape& shape = s_.shapes[wanted.shape];
    if (!shape.blocked) {
        if (const NodeId node = take_fitting(ask); node.valid()) return {Plan::Kind::Allocate, ask, node};
        if (std::vector<NodeId> nodes = next_nodes(ask); !nodes.empty())
            return ask_for(ask, std::move(nodes), Plan::Kind::Ask);
        if (!s_.nodes.find_first(wanted.shape).valid()) s_.shapes.block(wanted.shape);
    }
    notes_.note(s_.groups[wanted.group], ask, AskGroup::Note::Nodes, now);
    notes_.tell_refusals(ask, now);
    if (Plan plan = try_reserving(ask, now)) return plan;
    return is_refused(ask) ? Plan{Plan::Kind::Refused, ask, {}} : Plan{};
}

/// S-403: the RM is asked about the one candidate.
Plan Planner::try_reserving(AllocationId ask, Instant now) {
    const Allocation& wanted = s_.allocations[ask];
    const Shape& shape = s_.shapes[wanted.shape];
    Inquiry* inquiry = s_.inquiries.find(ask);
    if (!may_reserve(wanted, now) || (inquiry != nullptr && inquiry->reserve_refused)) return {};
    if (inquiry != nullptr && inquiry->to_reserve.valid()) {
        const NodeId node = std::exchange(inquiry->to_reserve, {});
        if (s_.nodes[node].is_open() && fits(s_.nodes[node].capacity, shape.resource))
            return {Plan::Kind::Reserve, ask, node};
    }
    const NodeId node = s_.nodes.find_to_reserve(shape);
    if (node.valid()) return ask_for(ask, {node}, Plan::Kind::AskReserve);
    s_.shapes.block_reserve(wanted.shape);
    return {};
}

/// S-412 for an ask whose own node does not take it.
Plan Planner::try_elsewhere(AllocationId ask) {
    const ShapeId shape = s_.allocations[ask].shape;
    if (!s_.shapes[shape].is_pinned() && !s_.shapes[shape].blocked) {
        if (const NodeId node = take_fitting(ask); node.valid()) return {Plan::Kind::Allocate, ask, node};
        if (std::vector<NodeId> nodes = next_nodes(ask); !nodes.empty())
            return ask_for(ask, std::move(nodes), Plan::Kind::Ask);
        if (!s_.nodes.find_first(shape).valid()) s_.shapes.block(shape);
    }
    return is_refused(ask) ? Plan{Plan::Kind::Refused, ask, {}} : Plan{};
}

/// The plan for a reserved ask, or none: then the reservation waits until a call ends (I-378).
Plan Planner::unless_waiting(ReservationId held, Plan plan) {
    if (plan.kind != Plan::Kind::Wait) return plan;
    auto& waiting = s_.inquiries.slotless;
    if (std::find(waiting.begin(), waiting.end(), held) == waiting.end()) waiting.push_back(held);
    return {};
}

// --- preemption (P-062)
// --------------------------------------------------------------------------------------------------------

Plan Planner::begin_offering(AllocationId ask, bool nodes_tried, Instant now) {
    PreemptionPlanner::Offers offers = preemption_.nodes_to_offer(ask, nodes_tried, now);
    if (offers.nodes.empty()) {
        note_attempt(ask, std::move(offers.attempt), now);
        return {};
    }
    auto attempt = std::make_unique<Offering>();
    attempt->nodes_tried = nodes_tried;
    attempt->order = std::move(offers.nodes);
    s_.inquiries.by_ask[ask].attempt = std::move(attempt);
    ++s_.inquiries.attempts;
    return {Plan::Kind::AskVictims, ask, {}};
}

/// A batch is over: the next one, unless what there is will do.
Plan Planner::go_on_offering(AllocationId ask, Instant now) {
    Inquiry& inquiry = *s_.inquiries.find(ask);
    inquiry.attempt->conclude_batch();
    const bool done = inquiry.attempt->best && inquiry.attempt->best->score() < Offering::kGoodEnough;
    const bool more = inquiry.attempt->next < inquiry.attempt->order.size();
    if (!done && more && !s_.calls.full()) return {Plan::Kind::AskVictims, ask, {}};
    const std::unique_ptr<Offering> attempt = std::move(inquiry.attempt);
    --s_.inquiries.attempts;
    return conclude_offering(ask, *attempt, now);
}

/// P-064: time has passed since the attempt began, so everything is tested again. Nobody goes in vain.
Plan Planner::conclude_offering(AllocationId ask, const Offering& attempt, Instant now) {
    if (attempt.best && may_still_preempt(ask, attempt.nodes_tried, now)) {
        PreemptionPlan plan = preemption_.plan_agreed(ask, attempt.best->offer, attempt.best->last, now);
        note_attempt(ask, std::move(plan.attempt), now);
        if (plan) return taking(Plan::Kind::Preempt, ask, std::move(plan));
        return {Plan::Kind::Resume, ask, {}};
    }
    PreemptionAttempt failed;
    failed.at = now;
    failed.result = attempt.best ? PreemptionResult::Released : PreemptionResult::NoHelp;
    failed.nodes_tried = attempt.next;
    note_attempt(ask, std::move(failed), now);
    return {Plan::Kind::Resume, ask, {}};
}

/// Whether the attempt could begin now, at the same point of P-020.
bool Planner::may_still_preempt(AllocationId id, bool tried, Instant now) const {
    const Allocation& ask = s_.allocations[id];
    const AskGroup& group = s_.groups[ask.group];
    const Application& application = s_.applications[ask.application];
    if (!s_.preemption_enabled || !ask.is(Allocation::PreemptOther) || group.replaceable || group.gang_held)
        return false;
    if (now < ask.created + application.queue->properties.preemption_delay) return false;
    if (s_.refusing_user_limit(application, s_.resource_of(ask)).valid()) return false;
    if (nodes_tried(ask) != tried) return false;
    return !tried || s_.shapes[ask.shape].blocked || next_nodes(id).empty(); // no room came up meanwhile
}

} // namespace yk
