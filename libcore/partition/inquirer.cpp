// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/inquirer.h"

#include <algorithm>

#include "libcore/base/check.h"

namespace yk {

namespace {

constexpr std::string_view kNoReason = "refused without a reason";
constexpr std::string_view kNoVerdict = "the answer does not name the node";

} // namespace

void Inquirer::inquire(const Plan& plan, Instant now) {
    YK_ASSUME(plan.is_inquiry(), "other plans are executed");
    switch (plan.kind) {
    case Plan::Kind::Resume: return parked_asks_.unpark(plan.ask, now);
    case Plan::Kind::Refused: attempt_log_.emit_refusals(plan.ask, now); return parked_asks_.rest(plan.ask, true, now);
    case Plan::Kind::InquireVictims: return offer_victims(plan.ask, now);
    default: return call_predicates(plan.ask, planner_.to_ask(), plan.kind == Plan::Kind::Inquire, now);
    }
}

void Inquirer::call_predicates(AllocationId id, const std::vector<NodeId>& nodes, bool allocate, Instant now) {
    Inquiry& inquiry = state_.inquiries.by_ask[id];
    inquiry.call = state_.calls.begin(*this, id);
    inquiry.asked = nodes;
    inquiry.reserving = !allocate;
    parked_asks_.park(id, now);
    std::vector<std::string_view> names;
    names.reserve(nodes.size());
    for (const NodeId node : nodes) names.push_back(state_.nodes[node].id);
    const Allocation& ask = state_.allocations[id];
    state_.callbacks.predicates_wanted(
        {inquiry.call, state_.full_name, state_.applications[ask.application].id, ask.key.view(), names, allocate});
}

/// Asks about the next nodes of the attempt, a batch of them at the same time (P-062).
void Inquirer::offer_victims(AllocationId id, Instant now) {
    Inquiry& inquiry = *state_.inquiries.find(id);
    Offering& attempt = *inquiry.attempt;
    if (inquiry.resting) parked_asks_.unpark(id, now);
    parked_asks_.park(id, now);
    while (attempt.batch.size() < Offering::kBatch && attempt.next < attempt.order.size() && !state_.calls.full()) {
        const NodeId node = attempt.order[attempt.next++];
        auto offer = node.valid() ? planner_.preemption().offer(id, node, now) : std::nullopt;
        if (!offer || offer->index >= static_cast<int>(PreemptionCall::kMostVictims)) continue;
        if (offer->plan.size() > PreemptionCall::kMostVictims) offer->plan.resize(PreemptionCall::kMostVictims);
        Offering::Offered& offered = attempt.batch.emplace_back();
        offered.offer = std::move(*offer);
        if (offered.offer.index < 0 && !state_.calls.options.predicates)
            offered.last = -1; // no victim, and an RM without predicates is not asked (I-380)
        else
            offered.call = call_preemption(id, offered.offer);
    }
    if (!attempt.waits()) parked_asks_.list_answered(id);
}

/// Asks about the victims on one node; if the ask fits without any, only about the node (I-051).
std::uint64_t Inquirer::call_preemption(AllocationId id, const VictimOffer& offer) {
    const std::uint64_t call = state_.calls.begin(*this, id);
    const Allocation& ask = state_.allocations[id];
    const std::string_view application = state_.applications[ask.application].id;
    std::vector<std::string_view> names;
    if (offer.index < 0) {
        names.push_back(state_.nodes[offer.node].id);
        state_.callbacks.predicates_wanted({call, state_.full_name, application, ask.key.view(), names, true});
        return call;
    }
    for (const AllocationId victim : offer.plan) names.push_back(state_.allocations[victim].key.view());
    state_.callbacks.preemption_wanted(
        {call, state_.full_name, application, ask.key.view(), state_.nodes[offer.node].id, names, offer.index});
    return call;
}

void Inquirer::take_answer(AllocationId id, const CallAnswer& answer, Instant now) {
    Inquiry& inquiry = *state_.inquiries.find(id);
    if (inquiry.attempt) return take_offer_answer(id, answer, now);
    inquiry.call = 0;
    if (answer.outcome == CallAnswer::Outcome::TimedOut) {
        inquiry.note(kCallTimedOut, now);
        inquiry.asked.clear();
        parked_asks_.charge(inquiry);
        return parked_asks_.rest(id, false, now);
    }
    take_verdicts(inquiry, answer, now);
    parked_asks_.charge(inquiry);
    parked_asks_.reenter(id, now);
}

void Inquirer::take_verdicts(Inquiry& inquiry, const CallAnswer& answer, Instant now) {
    inquiry.fits.clear();
    for (const NodeId node : std::exchange(inquiry.asked, {})) { // those that still exist
        const auto verdict = std::find_if(answer.nodes.begin(), answer.nodes.end(),
                                          [&](const NodeVerdict& each) { return each.node == state_.nodes[node].id; });
        const bool failed = answer.outcome == CallAnswer::Outcome::Failed;
        const bool fits = !failed && verdict != answer.nodes.end() && verdict->fits;
        if (inquiry.reserving) { // not logged (S-114)
            inquiry.to_reserve = fits ? node : NodeId{};
            inquiry.reserve_refused = !fits;
        } else if (fits) {
            inquiry.fits.push_back(node);
        } else {
            std::string_view reason = failed                          ? answer.error
                                      : verdict == answer.nodes.end() ? kNoVerdict
                                                                      : verdict->reason;
            if (reason.empty()) reason = kNoReason;
            inquiry.refuse(node);
            inquiry.note(reason, now);
            if (inquiry.failures.size() < Inquiry::kReasons || inquiry.failures.count(std::string{reason}) > 0)
                ++inquiry.failures[std::string{reason}];
        }
    }
    if (!inquiry.fits.empty()) inquiry.failed_rounds = 0;
}

/// An error, no answer, or an index that the offer does not allow means: not on this node (P-062).
void Inquirer::take_offer_answer(AllocationId id, const CallAnswer& answer, Instant now) {
    Offering& attempt = *state_.inquiries.find(id)->attempt;
    Offering::Offered& offered = *attempt.find(answer.call);
    const VictimOffer& offer = offered.offer;
    offered.call = 0;
    if (answer.outcome == CallAnswer::Outcome::TimedOut) state_.preemption.log(id, PreemptionResult::TimedOut, now);
    if (answer.outcome == CallAnswer::Outcome::Answered) {
        const auto size = static_cast<std::int64_t>(offer.plan.size());
        if (offer.index < 0 && !offered.spoilt && !answer.nodes.empty() && answer.nodes.front().fits &&
            answer.nodes.front().node == state_.nodes[offer.node].id)
            offered.last = -1;
        if (offer.index >= 0 && answer.success && answer.index >= offer.index && answer.index < size)
            offered.last = static_cast<int>(answer.index);
    }
    if (!attempt.waits()) parked_asks_.list_answered(id);
}

void Inquirer::rest_gang(ApplicationId id, Instant now) {
    std::vector<AllocationId> refused;
    for (const TaskGroup* group : state_.applications[id].gang.ready)
        for (const auto& [order, ask] : group->asks)
            if (const Inquiry* inquiry = state_.inquiries.find(ask);
                inquiry != nullptr && !inquiry->refused.empty() && !state_.allocations[ask].is(Allocation::Parked))
                refused.push_back(ask);
    for (const AllocationId ask : refused) inquire({Plan::Kind::Refused, ask, {}}, now);
}

} // namespace yk
