// Asks that wait for their RM: parked with a call, and back again (I-377 to I-379; docs/adr/0014).

#include <algorithm>
#include <utility>

#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

constexpr Duration kFirstRest = std::chrono::seconds{1}; // I-379
constexpr std::uint32_t kMostDoublings = 5;
constexpr Duration kLongestRest = std::chrono::seconds{30};
constexpr std::string_view kNoReason = "refused without a reason";
constexpr std::string_view kNoVerdict = "the answer does not name the node";

Duration rest_after(std::uint32_t failed_rounds) {
    return std::min(kLongestRest, kFirstRest * (1 << std::min(failed_rounds - 1, kMostDoublings)));
}

} // namespace

// --- plans
// ----------------------------------------------------------------------------------------------------------------

Plan PartitionContext::plan_reserved(Instant now) {
    while (true) {
        Plan plan = planner_.plan_reserved(now);
        if (!plan.is_inquiry()) return plan;
        inquire(plan, now);
    }
}

Plan PartitionContext::plan_regular(Instant now) {
    while (true) {
        Plan plan = planner_.plan_regular(now);
        if (!plan.is_inquiry()) return plan;
        inquire(plan, now);
    }
}

void PartitionContext::inquire(const Plan& plan, Instant now) {
    switch (plan.kind) {
    case Plan::Kind::Resume: return unpark(plan.ask, now);
    case Plan::Kind::Refused: planner_.notes().tell_refusals(plan.ask, now); return rest(plan.ask, true, now);
    case Plan::Kind::AskVictims: return offer_victims(plan.ask, now);
    default: return call_predicates(plan.ask, planner_.to_ask(), plan.kind == Plan::Kind::Ask, now);
    }
}

void PartitionContext::call_predicates(AllocationId id, const std::vector<NodeId>& nodes, bool allocate, Instant now) {
    Inquiry& inquiry = s_.inquiries.by_ask[id];
    inquiry.call = s_.calls.begin(*this, id);
    inquiry.asked = nodes;
    inquiry.reserving = !allocate;
    park(id, now);
    std::vector<std::string_view> names;
    names.reserve(nodes.size());
    for (const NodeId node : nodes) names.push_back(s_.nodes[node].id);
    const Allocation& ask = s_.allocations[id];
    s_.callbacks.predicates_wanted(
        {inquiry.call, s_.full_name, s_.applications[ask.application].id, ask.key.view(), names, allocate});
}

/// P-062: the next nodes of the attempt, all at the same time.
void PartitionContext::offer_victims(AllocationId id, Instant now) {
    Inquiry& inquiry = *s_.inquiries.find(id);
    Offering& attempt = *inquiry.attempt;
    if (inquiry.resting) unpark(id, now);
    park(id, now);
    while (attempt.batch.size() < Offering::kBatch && attempt.next < attempt.order.size() && !s_.calls.full()) {
        const NodeId node = attempt.order[attempt.next++];
        auto offer = node.valid() ? planner_.preemption().offer(id, node, now) : std::nullopt;
        if (!offer || offer->index >= static_cast<int>(PreemptionCall::kMostVictims)) continue;
        if (offer->plan.size() > PreemptionCall::kMostVictims) offer->plan.resize(PreemptionCall::kMostVictims);
        Offering::Offered& offered = attempt.batch.emplace_back();
        offered.offer = std::move(*offer);
        if (offered.offer.index < 0 && !s_.calls.options.predicates)
            offered.last = -1; // I-380
        else
            offered.call = call_preemption(id, offered.offer);
    }
    if (!attempt.waits()) list_answered(id);
}

/// I-051: without a victim it is the ordinary question.
std::uint64_t PartitionContext::call_preemption(AllocationId id, const VictimOffer& offer) {
    const std::uint64_t call = s_.calls.begin(*this, id);
    const Allocation& ask = s_.allocations[id];
    const std::string_view application = s_.applications[ask.application].id;
    std::vector<std::string_view> names;
    if (offer.index < 0) {
        names.push_back(s_.nodes[offer.node].id);
        s_.callbacks.predicates_wanted({call, s_.full_name, application, ask.key.view(), names, true});
        return call;
    }
    for (const AllocationId victim : offer.plan) names.push_back(s_.allocations[victim].key.view());
    s_.callbacks.preemption_wanted(
        {call, s_.full_name, application, ask.key.view(), s_.nodes[offer.node].id, names, offer.index});
    return call;
}

// --- answers
// --------------------------------------------------------------------------------------------------------------

void PartitionContext::take_answer(AllocationId id, const CallAnswer& answer, Instant now) {
    Inquiry& inquiry = *s_.inquiries.find(id);
    if (inquiry.attempt) return take_offer_answer(id, answer, now);
    inquiry.call = 0;
    if (answer.outcome == CallAnswer::Outcome::TimedOut) {
        inquiry.note(kCallTimedOut, now);
        inquiry.asked.clear();
        charge(inquiry);
        return rest(id, false, now);
    }
    take_verdicts(inquiry, answer, now);
    charge(inquiry);
    reenter(id, now);
}

void PartitionContext::take_verdicts(Inquiry& inquiry, const CallAnswer& answer, Instant now) {
    inquiry.fits.clear();
    for (const NodeId node : std::exchange(inquiry.asked, {})) { // those that are still there
        const auto said = std::find_if(answer.nodes.begin(), answer.nodes.end(),
                                       [&](const NodeVerdict& each) { return each.node == s_.nodes[node].id; });
        const bool failed = answer.outcome == CallAnswer::Outcome::Failed;
        const bool fits = !failed && said != answer.nodes.end() && said->fits;
        if (inquiry.reserving) { // not logged (S-114)
            inquiry.to_reserve = fits ? node : NodeId{};
            inquiry.reserve_refused = !fits;
        } else if (fits) {
            inquiry.fits.push_back(node);
        } else {
            std::string_view reason = failed ? answer.error : said == answer.nodes.end() ? kNoVerdict : said->reason;
            if (reason.empty()) reason = kNoReason;
            inquiry.refuse(node);
            inquiry.note(reason, now);
            if (inquiry.failures.size() < Inquiry::kReasons || inquiry.failures.count(std::string{reason}) > 0)
                ++inquiry.failures[std::string{reason}];
        }
    }
    if (!inquiry.fits.empty()) inquiry.failed_rounds = 0;
}

/// The ask goes on where it stood: the reserved and the replacing step look at it themselves; in the regular step it
/// stands at the head of its application (I-377).
void PartitionContext::reenter(AllocationId id, Instant now) {
    const Allocation& ask = s_.allocations[id];
    if (ask.reservation.valid() || s_.groups[ask.group].replaceable) return unpark(id, now);
    list_answered(id);
}

void PartitionContext::list_answered(AllocationId id) {
    const ApplicationId application = s_.allocations[id].application;
    s_.inquiries.answered[application].push_back(id);
    ++s_.applications[application].answered;
    orders_.touch(application);
}

/// P-062: an error, no answer, or an index that the offer does not allow is "not this node".
void PartitionContext::take_offer_answer(AllocationId id, const CallAnswer& answer, Instant now) {
    Offering& attempt = *s_.inquiries.find(id)->attempt;
    Offering::Offered& offered = *attempt.find(answer.call);
    const VictimOffer& offer = offered.offer;
    offered.call = 0;
    if (answer.outcome == CallAnswer::Outcome::TimedOut) s_.preemption.log(id, PreemptionResult::TimedOut, now);
    if (answer.outcome == CallAnswer::Outcome::Answered) {
        const auto size = static_cast<std::int64_t>(offer.plan.size());
        if (offer.index < 0 && !offered.spoilt && !answer.nodes.empty() && answer.nodes.front().fits &&
            answer.nodes.front().node == s_.nodes[offer.node].id)
            offered.last = -1;
        if (offer.index >= 0 && answer.success && answer.index >= offer.index && answer.index < size)
            offered.last = static_cast<int>(answer.index);
    }
    if (!attempt.waits()) list_answered(id);
}

// --- parked and back
// ------------------------------------------------------------------------------------------------------

void PartitionContext::park(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    ask.mark(Allocation::Parked);
    parking_changed(id, now);
}

void PartitionContext::unpark(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    Inquiry& inquiry = *s_.inquiries.find(id);
    s_.inquiries.resting -= inquiry.resting ? 1U : 0U;
    inquiry.resting = false;
    ask.mark(Allocation::Parked, false);
    ask.mark(Allocation::Refused, false);
    parking_changed(id, now);
    if (ask.reservation.valid()) orders_.wake(ask.reservation);
    if (!s_.groups[ask.group].replaceable) return;
    s_.applications[ask.application].gang.stalled = false;
    orders_.touch(ask.application);
}

void PartitionContext::parking_changed(AllocationId id, Instant now) {
    const Allocation& ask = s_.allocations[id];
    group_freedom_changed(s_.groups[ask.group], id, s_.allocations);
    update_due(ask.group, now);
    if (ask.is(Allocation::PreemptOther)) checks_.changed(id, now);
    orders_.touch(ask.group);
}

/// The ask waits a while before its RM is asked again. `refused`: all nodes were; it may preempt meanwhile (P-141).
void PartitionContext::rest(AllocationId id, bool refused, Instant now) {
    Inquiry& inquiry = *s_.inquiries.find(id);
    inquiry.resting = true;
    inquiry.token = s_.next_token++;
    ++inquiry.failed_rounds;
    ++s_.inquiries.resting;
    s_.timers.set(now + rest_after(inquiry.failed_rounds), TimerKind::InquiryRest, id.index, inquiry.token);
    s_.allocations[id].mark(Allocation::Refused, refused);
    if (s_.ledger.has_too_many_names()) { // the price: a node that grows wakes it although it was refused
        inquiry.refused = {};
        charge(inquiry);
    }
    park(id, now);
}

/// The real asks whose RM refused every node with a placeholder, and every other one.
void PartitionContext::rest_gang(ApplicationId id, Instant now) {
    std::vector<AllocationId> refused;
    for (const TaskGroup* group : s_.applications[id].gang.ready)
        for (const auto& [order, ask] : group->asks)
            if (const Inquiry* inquiry = s_.inquiries.find(ask);
                inquiry != nullptr && !inquiry->refused.empty() && !s_.allocations[ask].is(Allocation::Parked))
                refused.push_back(ask);
    for (const AllocationId ask : refused) inquire({Plan::Kind::Refused, ask, {}}, now);
}

void PartitionContext::begin_round(AllocationId id, Instant now) {
    Inquiry& inquiry = *s_.inquiries.find(id);
    inquiry.begin_round();
    charge(inquiry);
    unpark(id, now);
}

/// At the beginning of a cycle: nodes that have more room and were not refused, calls that are free again.
void PartitionContext::wake_inquiries(Instant now) {
    if (s_.inquiries.resting > 0) orders_.refresh();
    std::vector<AllocationId> woken;
    for (const auto& [id, inquiry] : s_.inquiries.by_ask) {
        if (s_.inquiries.grown.empty()) break;
        const Allocation& ask = s_.allocations[id];
        if (!ask.is(Allocation::Refused)) continue;
        const bool room =
            std::any_of(s_.inquiries.grown.begin(), s_.inquiries.grown.end(), [&, known = &inquiry](NodeId node) {
                return !known->has_refused(node) && s_.nodes[node].is_open() &&
                       fits(s_.nodes[node].available, s_.resource_of(ask));
            });
        if (room) woken.push_back(id);
    }
    s_.inquiries.grown.clear();
    for (const AllocationId id : woken) unpark(id, now);
    if (s_.calls.full()) return;
    for (const ReservationId id : std::exchange(s_.inquiries.slotless, {}))
        if (s_.reservations.alive(id)) orders_.wake(id);
    if (std::exchange(s_.inquiries.slotless_gangs, false)) orders_.wake_gangs();
}

/// The ask waits no more, or is another one now: an answer to come is late.
void PartitionContext::forget_inquiry(AllocationId id) {
    const auto found = s_.inquiries.by_ask.find(id);
    if (found == s_.inquiries.by_ask.end()) return;
    Allocation& ask = s_.allocations[id];
    if (found->second.call != 0) s_.calls.end(found->second.call);
    if (found->second.attempt) {
        for (const auto& offered : found->second.attempt->batch) s_.calls.end(offered.call);
        --s_.inquiries.attempts;
    }
    s_.inquiries.resting -= found->second.resting ? 1U : 0U;
    s_.ledger.take(Held::Names, found->second.charged);
    s_.inquiries.charged -= found->second.charged;
    s_.inquiries.by_ask.erase(found);
    ask.mark(Allocation::Parked, false);
    ask.mark(Allocation::Refused, false);
    const auto list = s_.inquiries.answered.find(ask.application);
    if (list == s_.inquiries.answered.end()) return;
    const auto place = std::find(list->second.begin(), list->second.end(), id);
    if (place == list->second.end()) return;
    list->second.erase(place);
    --s_.applications[ask.application].answered;
    if (list->second.empty()) s_.inquiries.answered.erase(list);
    orders_.touch(ask.application);
}

/// I-711.
void PartitionContext::add_predicate_log(AllocationId ask, std::vector<LogEntryView>& log) const {
    const Inquiry* inquiry = s_.inquiries.find(ask);
    if (inquiry == nullptr) return;
    for (const PredicateReason& reason : inquiry->log) log.push_back({reason.text, reason.last, reason.count});
}

} // namespace yk
