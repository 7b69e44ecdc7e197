// SPDX-License-Identifier: Apache-2.0
#include "libcore/model/ask_group.h"

namespace yk {

namespace {

constexpr int kFarFromTail = 64; // steps before an insertion builds the sorted map

AllocationId next_of(AllocationId ask, const AllocationSlab& allocations) noexcept {
    return {allocations[ask].links.pending.next};
}

/// The ask behind which `order` belongs; none: in front of all.
AllocationId predecessor(AskGroup& group, const AskOrder& order, const AllocationSlab& allocations) {
    AllocationId at = group.tail;
    for (int steps = 0; !group.sorted && at.valid() && order < order_of(allocations[at]); ++steps) {
        if (steps == kFarFromTail) {
            group.sorted = std::make_unique<std::map<AskOrder, AllocationId>>();
            for (AllocationId each = group.head; each.valid(); each = next_of(each, allocations))
                group.sorted->emplace(order_of(allocations[each]), each);
            break;
        }
        at = {allocations[at].links.pending.previous};
    }
    if (!group.sorted) return at;
    const auto after = group.sorted->upper_bound(order);
    return after == group.sorted->begin() ? AllocationId{} : std::prev(after)->second;
}

bool is_free(const Allocation& ask) noexcept {
    return !ask.reservation.valid() && !ask.is(Allocation::Parked);
}

AllocationId first_free_from(AllocationId ask, const AllocationSlab& allocations) noexcept {
    while (ask.valid() && !is_free(allocations[ask])) ask = next_of(ask, allocations);
    return ask;
}

/// Whether `ask` stands before `mark` (none: behind the end).
bool before(AllocationId ask, AllocationId mark, const AllocationSlab& allocations) noexcept {
    return !mark.valid() || order_of(allocations[ask]) < order_of(allocations[mark]);
}

} // namespace

void group_insert(AskGroup& group, AllocationId ask, AllocationSlab& allocations) noexcept {
    Allocation& object = allocations[ask];
    const AskOrder order = order_of(object);
    const AllocationId previous = predecessor(group, order, allocations);
    const AllocationId next = previous.valid() ? next_of(previous, allocations) : group.head;
    object.links.pending = {previous.index, next.index};
    (previous.valid() ? allocations[previous].links.pending.next : group.head.index) = ask.index;
    (next.valid() ? allocations[next].links.pending.previous : group.tail.index) = ask.index;
    ++group.count;
    if (group.sorted) group.sorted->emplace(order, ask);
    if (is_free(object) && before(ask, group.first_free, allocations)) group.first_free = ask;
    if (before(ask, group.first_unreported, allocations)) group.first_unreported = ask;
}

void group_prefetch_next(AllocationId ask, const AllocationSlab& allocations) noexcept {
    allocations.prefetch(next_of(ask, allocations));
}

void group_erase(AskGroup& group, AllocationId ask, AllocationSlab& allocations) noexcept {
    const Allocation& object = allocations[ask];
    const AllocationId previous{object.links.pending.previous};
    const AllocationId next{object.links.pending.next};
    (previous.valid() ? allocations[previous].links.pending.next : group.head.index) = next.index;
    (next.valid() ? allocations[next].links.pending.previous : group.tail.index) = previous.index;
    --group.count;
    if (group.sorted) group.sorted->erase(order_of(object));
    if (group.first_free == ask) group.first_free = first_free_from(next, allocations);
    if (group.first_unreported == ask) group.first_unreported = next;
}

void group_freedom_changed(AskGroup& group, AllocationId ask, AllocationSlab& allocations) noexcept {
    if (!is_free(allocations[ask])) {
        if (group.first_free == ask) group.first_free = first_free_from(ask, allocations);
    } else if (before(ask, group.first_free, allocations)) {
        group.first_free = ask;
    }
}

} // namespace yk
