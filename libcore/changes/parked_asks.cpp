// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/parked_asks.h"

#include <algorithm>

#include "libcore/base/check.h"

namespace yk {

namespace {

constexpr Duration kFirstRest = std::chrono::seconds{1}; // doubles with each failed round (I-379)
constexpr std::uint32_t kMostDoublings = 5;
constexpr Duration kLongestRest = std::chrono::seconds{30};

Duration rest_after(std::uint32_t failed_rounds) {
    YK_ASSUME(failed_rounds > 0, "an ask rests after a failed round");
    return std::min(kLongestRest, kFirstRest * (1 << std::min(failed_rounds - 1, kMostDoublings)));
}

} // namespace

void ParkedAsks::charge(Inquiry& inquiry) noexcept {
    const auto count = [&] {
        const std::uint64_t bytes = inquiry.bytes();
        state_.budget_meter.take(Held::Names, inquiry.charged);
        state_.budget_meter.add(Held::Names, bytes);
        state_.inquiries.charged += bytes - inquiry.charged;
        inquiry.charged = bytes;
    };
    count();
    if (!state_.budget_meter.has_too_many_names()) return;
    inquiry.forget_reasons();
    count();
}

bool ParkedAsks::forget_reasons() noexcept {
    constexpr std::uint64_t kWorthLooking = 1U << 20;
    const std::uint64_t before = state_.inquiries.charged;
    if (before < kWorthLooking) return false;
    for (auto& [ask, inquiry] : state_.inquiries.by_ask) {
        inquiry.forget_reasons();
        if (inquiry.resting) inquiry.refused = {};
        charge(inquiry);
    }
    return state_.inquiries.charged < before;
}

void ParkedAsks::reenter(AllocationId id, Instant now) noexcept {
    const Allocation& ask = state_.allocations[id];
    if (ask.reservation.valid() || state_.groups[ask.group].replaceable) return unpark(id, now);
    list_answered(id);
}

void ParkedAsks::list_answered(AllocationId id) noexcept {
    const ApplicationId application = state_.allocations[id].application;
    state_.inquiries.answered[application].push_back(id);
    ++state_.applications[application].answered;
    indexes_.mark_dirty(application);
}

void ParkedAsks::park(AllocationId id, Instant now) noexcept {
    Allocation& ask = state_.allocations[id];
    ask.mark(Allocation::Parked);
    parking_changed(id, now);
}

void ParkedAsks::unpark(AllocationId id, Instant now) noexcept {
    Allocation& ask = state_.allocations[id];
    Inquiry& inquiry = *state_.inquiries.find(id);
    state_.inquiries.resting -= inquiry.resting ? 1U : 0U;
    inquiry.resting = false;
    ask.mark(Allocation::Parked, false);
    ask.mark(Allocation::Refused, false);
    parking_changed(id, now);
    if (ask.reservation.valid()) indexes_.wake(ask.reservation);
    if (!state_.groups[ask.group].replaceable) return;
    state_.applications[ask.application].gang.stalled = false;
    indexes_.mark_dirty(ask.application);
}

void ParkedAsks::parking_changed(AllocationId id, Instant now) noexcept {
    const Allocation& ask = state_.allocations[id];
    group_freedom_changed(state_.groups[ask.group], id, state_.allocations);
    reservation_delays_.update(ask.group, now);
    if (ask.is(Allocation::PreemptOther)) checks_.changed(id, now);
    indexes_.mark_dirty(ask.group);
}

void ParkedAsks::rest(AllocationId id, bool refused, Instant now) noexcept {
    Inquiry& inquiry = *state_.inquiries.find(id);
    inquiry.resting = true;
    inquiry.token = state_.next_token++;
    ++inquiry.failed_rounds;
    ++state_.inquiries.resting;
    state_.timers.set(now + rest_after(inquiry.failed_rounds), TimerKind::InquiryRest, id.index, inquiry.token);
    state_.allocations[id].mark(Allocation::Refused, refused);
    if (state_.budget_meter.has_too_many_names()) { // the price: a node that was refused may wake it when it grows
        inquiry.refused = {};
        charge(inquiry);
    }
    park(id, now);
}

void ParkedAsks::begin_round(AllocationId id, Instant now) noexcept {
    Inquiry& inquiry = *state_.inquiries.find(id);
    inquiry.begin_round();
    charge(inquiry);
    unpark(id, now);
}

void ParkedAsks::wake(Instant now) noexcept {
    if (state_.inquiries.resting > 0) indexes_.refresh();
    std::vector<AllocationId> woken;
    for (const auto& [id, inquiry] : state_.inquiries.by_ask) {
        if (state_.inquiries.grown.empty()) break;
        const Allocation& ask = state_.allocations[id];
        if (!ask.is(Allocation::Refused)) continue;
        const bool fits_now = std::any_of(state_.inquiries.grown.begin(), state_.inquiries.grown.end(),
                                          [&, known = &inquiry](NodeId node) {
                                              return !known->has_refused(node) && state_.nodes[node].is_open() &&
                                                     takes(state_.nodes[node], state_.shapes[ask.shape]);
                                          });
        if (fits_now) woken.push_back(id);
    }
    state_.inquiries.grown.clear();
    for (const AllocationId id : woken) unpark(id, now);
    if (state_.calls.full()) return;
    for (const ReservationId id : std::exchange(state_.inquiries.slotless, {}))
        if (state_.reservations.alive(id)) indexes_.wake(id);
    if (std::exchange(state_.inquiries.slotless_gangs, false)) indexes_.wake_gangs();
}

void ParkedAsks::forget(AllocationId id) noexcept {
    const auto found = state_.inquiries.by_ask.find(id);
    if (found == state_.inquiries.by_ask.end()) return;
    Allocation& ask = state_.allocations[id];
    if (found->second.call != 0) state_.calls.end(found->second.call);
    if (found->second.attempt) {
        for (const auto& offered : found->second.attempt->batch) state_.calls.end(offered.call);
        --state_.inquiries.attempts;
    }
    state_.inquiries.resting -= found->second.resting ? 1U : 0U;
    state_.budget_meter.take(Held::Names, found->second.charged);
    state_.inquiries.charged -= found->second.charged;
    state_.inquiries.by_ask.erase(found);
    ask.mark(Allocation::Parked, false);
    ask.mark(Allocation::Refused, false);
    const auto list = state_.inquiries.answered.find(ask.application);
    if (list == state_.inquiries.answered.end()) return;
    const auto entry = std::find(list->second.begin(), list->second.end(), id);
    if (entry == list->second.end()) return;
    list->second.erase(entry);
    --state_.applications[ask.application].answered;
    if (list->second.empty()) state_.inquiries.answered.erase(list);
    indexes_.mark_dirty(ask.application);
}

} // namespace yk
