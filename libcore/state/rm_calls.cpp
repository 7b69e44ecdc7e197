// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/rm_calls.h"

#include <algorithm>

#include "libcore/ports/budget.h"

namespace yk {

namespace {

void take_out(std::vector<NodeId>& list, NodeId node) {
    list.erase(std::remove(list.begin(), list.end(), node), list.end());
}

} // namespace

std::uint64_t RmCalls::begin(AnswerTaker& taker, AllocationId ask) noexcept {
    open_.emplace(next_, Call{&taker, ask});
    return next_++;
}

std::optional<RmCalls::Call> RmCalls::end(std::uint64_t call) noexcept {
    const auto found = open_.find(call);
    if (found == open_.end()) return std::nullopt;
    const Call ended = found->second;
    open_.erase(found);
    return ended;
}

std::uint64_t Inquiry::bytes() const noexcept {
    std::uint64_t bytes = refused.size() * sizeof(NodeId);
    for (const auto& [reason, count] : failures) bytes += bytes_of(reason) + kPerEntry;
    for (const PredicateReason& reason : log) bytes += bytes_of(reason.text) + kPerEntry;
    return bytes;
}

void Inquiry::forget_reasons() noexcept {
    failures.clear();
    log.clear();
}

bool Inquiry::has_refused(NodeId node) const {
    return std::binary_search(refused.begin(), refused.end(), node);
}

void Inquiry::refuse(NodeId node) noexcept {
    const auto position = std::lower_bound(refused.begin(), refused.end(), node);
    if (position == refused.end() || *position != node) refused.insert(position, node);
}

void Inquiry::note(std::string_view reason, Instant now) noexcept {
    auto entry = std::find_if(log.begin(), log.end(), [&](const PredicateReason& each) { return each.text == reason; });
    if (entry == log.end() && log.size() == kReasons)
        log.erase(
            std::min_element(log.begin(), log.end(), [](const auto& a, const auto& b) { return a.last < b.last; }));
    if (entry == log.end()) entry = log.insert(log.end(), PredicateReason{std::string{reason}, 0, now});
    ++entry->count;
    entry->last = now;
}

void Inquiry::forget_node(NodeId node) noexcept {
    for (std::vector<NodeId>* list : {&asked, &fits, &refused}) take_out(*list, node);
    if (to_reserve == node) to_reserve = {};
    if (attempt) attempt->forget_node(node);
}

void Inquiry::begin_round() noexcept {
    fits.clear();
    refused.clear();
    failures.clear();
    to_reserve = {};
    reserve_refused = false;
}

bool Offering::waits() const {
    return std::any_of(batch.begin(), batch.end(), [](const Offered& each) { return each.call != 0; });
}

Offering::Offered* Offering::find(std::uint64_t call) {
    const auto found =
        std::find_if(batch.begin(), batch.end(), [call](const Offered& each) { return each.call == call; });
    return found == batch.end() ? nullptr : &*found;
}

void Offering::conclude_batch() noexcept {
    for (Offered& each : batch) {
        if (!each.last || each.spoilt) continue;
        Agreed agreed{std::move(each.offer), *each.last};
        const auto key = [](const Agreed& one) {
            return std::pair{one.score(), one.offer.rank};
        }; // the order of solutions (P-060)
        if (!best || key(agreed) < key(*best)) best = std::move(agreed);
    }
    batch.clear();
}

void Offering::forget_node(NodeId node) noexcept {
    std::replace(order.begin(), order.end(), node, NodeId{});
    for (Offered& each : batch) each.spoilt = each.spoilt || each.offer.node == node;
    if (best && best->offer.node == node) best.reset();
}

void Offering::forget_victim(AllocationId victim) noexcept {
    const auto holds = [victim](const VictimOffer& offer) {
        return std::find(offer.plan.begin(), offer.plan.end(), victim) != offer.plan.end();
    };
    for (Offered& each : batch) each.spoilt = each.spoilt || holds(each.offer);
    if (best && holds(best->offer)) best.reset();
}

void Inquiries::forget_victim(AllocationId victim) noexcept {
    for (auto& [ask, inquiry] : by_ask)
        if (inquiry.attempt) inquiry.attempt->forget_victim(victim);
}

void Inquiries::forget_node(NodeId node) noexcept {
    for (auto& [ask, inquiry] : by_ask) inquiry.forget_node(node);
    take_out(grown, node);
}

} // namespace yk
