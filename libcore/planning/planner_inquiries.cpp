// SPDX-License-Identifier: Apache-2.0
// The planner with an RM that has predicates: which nodes the RM is asked about, and what its answer leads to (I-377,
// S-342, S-343, S-403).

#include <algorithm>
#include <utility>

#include "libcore/planning/headroom.h"
#include "libcore/planning/planner.h"

namespace yk {

Plan Planner::ask_for(AllocationId ask, std::vector<NodeId> nodes, Plan::Kind kind) {
    if (state_.calls.full()) return {Plan::Kind::Wait, ask, {}};
    to_ask_ = std::move(nodes);
    return {kind, ask, {}};
}

bool Planner::is_refused(AllocationId ask) const {
    const Inquiry* inquiry = state_.inquiries.find(ask);
    return inquiry != nullptr && (!inquiry->refused.empty() || inquiry->reserve_refused);
}

/// The first node of the answer on which the ask still fits; none if there is none. Forgets the answer (I-377).
NodeId Planner::take_fitting(AllocationId ask) {
    Inquiry* inquiry = state_.inquiries.find(ask);
    if (inquiry == nullptr) return {};
    const std::vector<NodeId> fitting = std::exchange(inquiry->fits, {});
    const auto found = std::find_if(fitting.begin(), fitting.end(),
                                    [&](NodeId node) { return state_.nodes[node].is_open() && can_take(node, ask); });
    return found == fitting.end() ? NodeId{} : *found;
}

/// The next nodes to ask about: those that fit and were not refused, in order, as many as one call may have.
std::vector<NodeId> Planner::next_nodes(AllocationId ask) const {
    const Inquiry* inquiry = state_.inquiries.find(ask);
    return state_.nodes.find_some(state_.shapes[state_.allocations[ask].shape], state_.calls.options.batch,
                                  [inquiry](NodeId node) { return inquiry != nullptr && inquiry->has_refused(node); });
}

/// The plan, if the RM agreed to its node; a plan to ask the RM, if that is not known; none, if the RM refused it.
Plan Planner::checked(const Plan& plan) {
    if (!state_.calls.options.predicates) return plan;
    if (Inquiry* inquiry = state_.inquiries.find(plan.ask)) {
        if (inquiry->has_refused(plan.node)) return {};
        const bool fits = std::count(inquiry->fits.begin(), inquiry->fits.end(), plan.node) > 0;
        if (fits) inquiry->fits.clear();
        if (fits) return plan;
    }
    return ask_for(plan.ask, {plan.node}, Plan::Kind::Inquire);
}

/// Uses an answer when its application comes up in the walk, before the application's other asks. The ask is still
/// parked (I-377).
Plan Planner::try_answered(ApplicationId id, Instant now) {
    const auto list = state_.inquiries.answered.find(id);
    const AllocationId ask = list->second.front();
    list->second.erase(list->second.begin());
    if (list->second.empty()) state_.inquiries.answered.erase(list);
    Application& application = state_.applications[id];
    --application.answered;
    indexes_.mark_dirty(id);
    if (state_.inquiries.find(ask)->attempt) return go_on_offering(ask, now);
    const Allocation& wanted = state_.allocations[ask];
    const Resource& resource = state_.resource_of(wanted);
    const bool elsewhere = wanted.reservation.valid() || state_.groups[wanted.group].replaceable; // steps 1 and 2
    if (elsewhere || state_.refusing_user_limit(application, resource).valid() ||
        queue_verdict(state_, *application.queue, state_.shapes[wanted.shape]).queue != nullptr) {
        state_.inquiries.find(ask)->begin_round(); // when it fits again, the answer will be too old
        return {Plan::Kind::Resume, ask, {}};
    }
    log_.passed_user_limit(ask, now);
    log_.passed_headroom(ask, now);
    Plan plan = try_nodes(ask, now);
    if (!plan || plan.kind == Plan::Kind::Wait) return {Plan::Kind::Resume, ask, {}};
    return plan;
}

/// try_nodes() for an ask without required node: nodes that the RM agreed to, else the next ones to ask about, else a
/// node to reserve (S-341 step 8, S-403).
Plan Planner::try_checked(AllocationId ask, Instant now) {
    const Allocation& wanted = state_.allocations[ask];
    const Shape& shape = state_.shapes[wanted.shape];
    if (!shape.blocked) {
        if (const NodeId node = take_fitting(ask); node.valid()) return {Plan::Kind::Allocate, ask, node};
        if (std::vector<NodeId> nodes = next_nodes(ask); !nodes.empty())
            return ask_for(ask, std::move(nodes), Plan::Kind::Inquire);
        if (!state_.nodes.find_first(wanted.shape).valid()) state_.shapes.block(wanted.shape);
    }
    log_.note(state_.groups[wanted.group], ask, AskGroup::Note::Nodes, now);
    log_.emit_refusals(ask, now);
    if (Plan plan = try_reserving(ask, now)) return plan;
    return is_refused(ask) ? Plan{Plan::Kind::Refused, ask, {}} : Plan{};
}

/// Reserves the node that the RM agreed to, or asks the RM about the one candidate (S-403).
Plan Planner::try_reserving(AllocationId ask, Instant now) {
    const Allocation& wanted = state_.allocations[ask];
    const Shape& shape = state_.shapes[wanted.shape];
    Inquiry* inquiry = state_.inquiries.find(ask);
    if (!may_reserve(wanted, now) || (inquiry != nullptr && inquiry->reserve_refused)) return {};
    if (inquiry != nullptr && inquiry->to_reserve.valid()) {
        const NodeId node = std::exchange(inquiry->to_reserve, {});
        if (state_.nodes[node].is_open() && could_take(state_.nodes[node], shape))
            return {Plan::Kind::Reserve, ask, node};
    }
    const NodeId node = state_.nodes.find_to_reserve(shape);
    if (node.valid()) return ask_for(ask, {node}, Plan::Kind::InquireReserve);
    state_.shapes.block_reserve(wanted.shape);
    return {};
}

/// Plans another node for a reserved ask that does not fit on its own one (S-412).
Plan Planner::try_elsewhere(AllocationId ask) {
    const ShapeId shape = state_.allocations[ask].shape;
    if (!state_.shapes[shape].is_pinned() && !state_.shapes[shape].blocked) {
        if (const NodeId node = take_fitting(ask); node.valid()) return {Plan::Kind::Allocate, ask, node};
        if (std::vector<NodeId> nodes = next_nodes(ask); !nodes.empty())
            return ask_for(ask, std::move(nodes), Plan::Kind::Inquire);
        if (!state_.nodes.find_first(shape).valid()) state_.shapes.block(shape);
    }
    return is_refused(ask) ? Plan{Plan::Kind::Refused, ask, {}} : Plan{};
}

/// The plan for a reserved ask; none, if it needs a call and none is free: the reservation then waits (I-378).
Plan Planner::unless_waiting(ReservationId held, Plan plan) {
    if (plan.kind != Plan::Kind::Wait) return plan;
    auto& waiting = state_.inquiries.slotless;
    if (std::find(waiting.begin(), waiting.end(), held) == waiting.end()) waiting.push_back(held);
    return {};
}

// --- preemption (P-062) ----------------------------------------------------------------------------------------------

Plan Planner::begin_offering(AllocationId ask, bool nodes_tried, Instant now) {
    PreemptionPlanner::Offers offers = preemption_.nodes_to_offer(ask, nodes_tried, now);
    if (offers.nodes.empty()) {
        note_attempt(ask, std::move(offers.attempt), now);
        return {};
    }
    auto attempt = std::make_unique<Offering>();
    attempt->nodes_tried = nodes_tried;
    attempt->order = std::move(offers.nodes);
    state_.inquiries.by_ask[ask].attempt = std::move(attempt);
    ++state_.inquiries.attempts;
    return {Plan::Kind::InquireVictims, ask, {}};
}

/// All answers of a batch of nodes are there: plans the next batch, or concludes if the best node so far is good enough
/// or none is left.
Plan Planner::go_on_offering(AllocationId ask, Instant now) {
    Inquiry& inquiry = *state_.inquiries.find(ask);
    inquiry.attempt->conclude_batch();
    const bool done = inquiry.attempt->best && inquiry.attempt->best->score() < Offering::kGoodEnough;
    const bool more = inquiry.attempt->next < inquiry.attempt->order.size();
    if (!done && more && !state_.calls.full()) return {Plan::Kind::InquireVictims, ask, {}};
    const std::unique_ptr<Offering> attempt = std::move(inquiry.attempt);
    --state_.inquiries.attempts;
    return conclude_offering(ask, *attempt, now);
}

/// Time has passed since the attempt began, so everything is tested again: no victim is preempted in vain (P-064).
Plan Planner::conclude_offering(AllocationId ask, const Offering& attempt, Instant now) {
    if (attempt.best && may_still_preempt(ask, attempt.nodes_tried, now)) {
        PreemptionPlan plan = preemption_.plan_agreed(ask, attempt.best->offer, attempt.best->last, now);
        note_attempt(ask, std::move(plan.attempt), now);
        if (plan) return plan_with_victims(Plan::Kind::Preempt, ask, std::move(plan));
        return {Plan::Kind::Resume, ask, {}};
    }
    PreemptionAttempt failed;
    failed.at = now;
    failed.result = attempt.best ? PreemptionResult::Released : PreemptionResult::NoHelp;
    failed.nodes_tried = attempt.next;
    note_attempt(ask, std::move(failed), now);
    return {Plan::Kind::Resume, ask, {}};
}

/// Whether the attempt could begin now, at the same point: `tried`: after a search for nodes (P-020).
bool Planner::may_still_preempt(AllocationId id, bool tried, Instant now) const {
    const Allocation& ask = state_.allocations[id];
    const AskGroup& group = state_.groups[ask.group];
    const Application& application = state_.applications[ask.application];
    if (!state_.preemption_enabled || !ask.is(Allocation::PreemptOther) || group.replaceable || group.gang_held)
        return false;
    if (now < ask.created + application.queue->properties.preemption_delay) return false;
    if (state_.refusing_user_limit(application, state_.resource_of(ask)).valid()) return false;
    if (nodes_tried(ask) != tried) return false;
    return !tried || state_.shapes[ask.shape].blocked || next_nodes(id).empty(); // still no node to ask about
}

} // namespace yk
