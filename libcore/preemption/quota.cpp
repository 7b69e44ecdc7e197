// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/quota.h"

#include <algorithm>

#include "libcore/base/check.h"

#include "libcore/resources/share.h"

namespace yk {

namespace {

constexpr std::int64_t kHour = 3'600'000'000'000; // nanoseconds

/// What the queue uses above its guarantee, without what is being preempted; 0 at least.
std::int64_t above_guarantee(const Queue& queue, ResourceId id) {
    const std::int64_t used = sat_sub(queue.allocated.get(id), queue.preempting.get(id));
    const std::int64_t guaranteed = queue.guaranteed ? queue.guaranteed->get(id) : 0;
    return std::max<std::int64_t>(0, sat_sub(used, guaranteed));
}

/// floor(a * b / c) without overflow.
std::int64_t share_out(std::int64_t a, std::int64_t b, std::int64_t c) {
    YK_ASSUME(a >= 0 && b >= 0 && c > 0, "a target is divided in proportion to amounts that are not negative");
    __extension__ using Wide = unsigned __int128;
    const Wide share = static_cast<Wide>(a) * static_cast<Wide>(b) / static_cast<Wide>(c);
    return share > static_cast<Wide>(INT64_MAX) ? INT64_MAX : static_cast<std::int64_t>(share);
}

struct Victim {
    AllocationId id{};
    const Allocation* allocation = nullptr;
    const Resource* size = nullptr;
    int match = 0; // percentage of its types that are in the target
    Shares shares; // of the leaf's max, in the types of the target
};

/// The order of quota preemption: originators last, then those that opted out; within these, better match, lower
/// priority, newer, smaller share (P-125).
bool is_taken_before(const Victim& a, const Victim& b) {
    const Allocation& left = *a.allocation;
    const Allocation& right = *b.allocation;
    if (left.is(Allocation::Originator) != right.is(Allocation::Originator)) return right.is(Allocation::Originator);
    if (left.is(Allocation::PreemptSelf) != right.is(Allocation::PreemptSelf)) return left.is(Allocation::PreemptSelf);
    if (a.match != b.match) return a.match > b.match;
    if (left.priority != right.priority) return left.priority < right.priority;
    if (left.created.ns / kHour != right.created.ns / kHour) return left.created > right.created;
    if (const int shares = compare_shares(a.shares, b.shares); shares != 0) return shares < 0;
    if (left.created != right.created) return left.created > right.created;
    if (left.key.view() != right.key.view()) return left.key.view() < right.key.view();
    return left.arrival < right.arrival;
}

Resource only(const Resource& amounts, const Resource& types) {
    Resource kept;
    amounts.for_each([&](ResourceId id, std::int64_t value) {
        if (types.has(id)) kept.set(id, value);
    });
    return kept;
}

Victim victim_of(const PartitionState& state, AllocationId id, const Resource& target, const Limit& max) {
    const Allocation& allocation = state.allocations[id];
    const Resource& size = state.resource_of(allocation);
    const int types = std::popcount(size.types());
    const int wanted = std::popcount(size.types() & target.types());
    return {id, &allocation, &size, 100 * wanted / types, shares_of(only(size, target), &max.bounds())};
}

bool is_candidate(const PartitionState& state, const Allocation& allocation, const Resource& target) {
    const Shape& shape = state.shapes[allocation.shape];
    return (shape.resource.types() & target.types()) != 0 && !shape.is_pinned() &&
           !allocation.is(Allocation::Released) && !allocation.is(Allocation::Preempted);
}

/// Whether `sum` and `more` together stay within the target in all its types.
bool stays_within(const Resource& target, const Resource& sum, const Resource& more) {
    bool within = true;
    target.for_each(
        [&](ResourceId id, std::int64_t value) { within = within && sat_add(sum.get(id), more.get(id)) <= value; });
    return within;
}

} // namespace

bool within_max(const Limit& max, const Resource& allocated) noexcept {
    bool within = true;
    max.bounds().for_each([&](ResourceId id, std::int64_t bound) { within = within && allocated.get(id) <= bound; });
    return within;
}

bool is_tighter(const Limit& before, const Limit& after) noexcept {
    bool tighter = false;
    after.bounds().for_each([&](ResourceId id, std::int64_t bound) {
        tighter = tighter || !before.bounds().has(id) || bound < before.bounds().get(id);
    });
    return tighter;
}

Resource quota_target(const Queue& queue) {
    Resource target;
    queue.max.bounds().for_each([&](ResourceId id, std::int64_t bound) {
        std::int64_t over = sat_sub(sat_sub(queue.allocated.get(id), queue.preempting.get(id)), bound);
        for (const Queue* above = &queue; above != nullptr; above = above->parent)
            if (above->guaranteed && above->guaranteed->has(id))
                over = std::min(over, above_guarantee(*above, id)); // the smallest of all levels (D-40)
        if (over > 0) target.set(id, over);
    });
    return target;
}

std::vector<LeafTarget> distribute(const Queue& queue, const Resource& target) {
    if (target.empty()) return {};
    if (queue.leaf) return {{&queue, target}};
    std::vector<LeafTarget> leaves;
    for (const auto& entry : queue.children) {
        const Queue* child = entry.second.get(); // no binding: clang 14 cannot capture one
        Resource part;
        target.for_each([&](ResourceId id, std::int64_t value) {
            std::int64_t sum = 0;
            for (const auto& [other, sibling] : queue.children) sum = sat_add(sum, above_guarantee(*sibling, id));
            const std::int64_t own = above_guarantee(*child, id); // not the whole usage (D-41)
            if (sum == 0 || own == 0) return;
            const std::int64_t share = std::min(own, share_out(value, own, sum)); // never below its guarantee (P-002)
            if (share > 0) part.set(id, share);
        });
        for (LeafTarget& each : distribute(*child, part)) leaves.push_back(std::move(each));
    }
    return leaves;
}

QuotaVictims quota_victims(const PartitionState& state, const LeafTarget& leaf) {
    const Limit max = leaf.leaf->effective_max();
    std::vector<Victim> candidates;
    for (const ApplicationId application : leaf.leaf->applications)
        for (const AllocationId id : state.applications[application].allocations)
            if (is_candidate(state, state.allocations[id], leaf.target))
                candidates.push_back(victim_of(state, id, leaf.target, max));
    std::sort(candidates.begin(), candidates.end(), is_taken_before);
    QuotaVictims found;
    found.candidates = candidates.size();
    for (const Victim& each : candidates) {
        if (!stays_within(leaf.target, found.claimed, *each.size)) continue;
        found.claimed.add(*each.size);
        found.victims.push_back(each.id);
    }
    return found;
}

} // namespace yk
