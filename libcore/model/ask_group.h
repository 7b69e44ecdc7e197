// SPDX-License-Identifier: Apache-2.0
#pragma once
// AskGroup: the pending asks of one application that are equal for scheduling: same priority, same shape, and for real
// asks the same task group, since all of them may have to wait for its placeholders (G-030). The next ask to try is
// exactly the next ask of S-223, but a failure rules out the whole group.
//
// Owner: PartitionContext's slab. Thread: the partition's owner.
// Invariants:
//  A  the list holds the group's asks in AskOrder
//  B  first_free is the first ask without a reservation that is not parked, first_unreported the first whose failed
//     attempt is not in its log yet (S-114); none when there is none

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "libcore/base/list_slot.h"
#include "libcore/base/ordered_index.h"
#include "libcore/model/allocation.h"
#include "libcore/model/shape.h"

namespace yk {

/// When the asks of a group may attempt a preemption; kept by PreemptionChecks.
struct GroupChecks {
    AllocationId next{};          // the first in order that has not been passed over in this round
    std::optional<Instant> again; // when the first of those passed over may be checked again: a new round
    std::optional<Instant> timer; // a timer will look then
    bool due = false;             // `next` may attempt now
};

struct AskGroup {
    /// Why the asks of the group are passed over, as last noted in their logs.
    enum class Note : std::uint8_t { None, User, Queue, Nodes };
    /// How often asks of the group failed one of the headrooms (S-114).
    struct Failures {
        Instant last;
        std::uint32_t count = 0;
    };

    ApplicationId application{};
    ShapeId shape{};
    std::int32_t priority = 0;
    std::uint32_t task_group = 0; // text id; 0: none, or placeholders
    AllocationId head{};
    AllocationId tail{};
    AllocationId first_free{};
    AllocationId first_unreported{};
    std::uint32_t count = 0;
    IndexSlot slot{}; // in the application's index of groups
    Note note = Note::None;
    ListSlot dirty{};       // waits for SchedulingIndexes
    bool due = false;       // first_free is old enough to reserve (S-403)
    bool due_timer = false; // a timer will look at it
    Failures user_failures;
    Failures queue_failures;
    UsageNodeId held_at{};             // the user's or group's limit that does not allow it now (C-409)
    std::uint32_t held_position = 0;   // in that node's list
    bool is_listed_unreported = false; // listed in the partition
    bool gang_held = false;            // placeholders that wait for another gang, until the next cycle
    bool replaceable = false;          // the regular step leaves them to the placeholders of their task group (G-030)
    std::uint32_t preemptors = 0;      // asks that may preempt others
    std::unique_ptr<GroupChecks> checks{}; // only where a preemption is possible at all
    // Made when asks arrive far out of order, so that an insertion need not walk the list.
    std::unique_ptr<std::map<AskOrder, AllocationId>> sorted{};
};

using AllocationSlab = Slab<Allocation>;

/// Links a pending ask in at its position. Cost: O(1) for asks that arrive in order, else O(log n).
void group_insert(AskGroup& group, AllocationId ask, AllocationSlab& allocations) noexcept;
/// Called when the ask is about to be placed, as the one behind it is looked at next and may lie anywhere in memory.
void group_prefetch_next(AllocationId ask, const AllocationSlab& allocations) noexcept;
void group_erase(AskGroup& group, AllocationId ask, AllocationSlab& allocations) noexcept;
/// To be called when an ask of the group took or lost its reservation, was parked, or is parked no more.
void group_freedom_changed(AskGroup& group, AllocationId ask, AllocationSlab& allocations) noexcept;

/// The index of an application's groups, by the order of each group's first free ask.
struct GroupTraits {
    using Key = AskOrder;
    using Summary = Masks;
    static constexpr std::uint32_t kCapacity = 12;
    Slab<AskGroup>* groups;

    static bool less(const Key& a, const Key& b) noexcept { return a < b; }
    static void merge(Summary& into, const Summary& from) noexcept { into.merge(from); }
    static bool same(const Summary& a, const Summary& b) noexcept { return a == b; }
    static bool falls(const Summary&, const Summary& before, const Summary& after) noexcept {
        return !after.covers(before);
    }
    IndexSlot& slot(std::uint32_t value) const noexcept { return (*groups)[GroupId{value}].slot; }
};
using GroupIndex = OrderedIndex<GroupTraits>;

} // namespace yk
