#pragma once
// AttemptNotes: what an attempt to place an ask leaves behind on it: that it was tried, what it failed on, the events
// that tell so (S-113, S-114, S-605).
//
// An ask that the walk looked at is noted at once. Those behind it in its group, which failed with it unseen, are noted
// after a walk without outcome: a group remembers from which of its asks on (AskGroup::first_untouched).
//
// Owner: Planner. Thread: the partition's owner. Changes flags and notes of asks and groups, never usage.

#include <string>

#include "libcore/scheduler/partition_state.h"

namespace yk {

class AttemptNotes {
public:
    explicit AttemptNotes(PartitionState& state) : s_(state) {}

    // --- on the ask that is tried ------------------------------------------------------------------------------------
    void passed_user_limit(AllocationId id, Instant now);
    void passed_headroom(AllocationId id, Instant now);
    /// What the ask failed on; the others of its group are noted when the walk is over.
    void note(AskGroup& group, AllocationId ask, AskGroup::Note why, Instant now);
    /// The walk itself noted the ask: the cursor of those that wait for it moves on.
    void touched(AskGroup& group, AllocationId ask);
    /// The RM's reasons of this round for the ask, as an event (S-605).
    void tell_refusals(AllocationId ask, Instant now);

    // --- on those that were passed over ------------------------------------------------------------------------------
    /// The group has asks that are not noted yet.
    void list_untouched(GroupId id);
    /// Notes on every ask that a walk without outcome passed over what the attempt would have left behind (S-114).
    void note_passed_over(Instant now);

private:
    /// What the asks of the application would fail on before any node is looked at (S-341, steps 3 and 5).
    [[nodiscard]] AskGroup::Note headroom_note(const Application& application, const Shape& shape) const;
    void note_on(AllocationId id, AskGroup::Note why, Instant now);
    void attempted(Allocation& ask);
    void failed_user_limit(AllocationId id, Instant now);
    void failed_headroom(AllocationId id, Instant now);
    void tell_room(const Allocation& ask, const std::string& verdict, const Limit& room, Instant now);
    void tell_user_limit(const Allocation& ask, bool fits_now, Instant now);
    void tell_headroom(const Allocation& ask, bool fits_now, Instant now);
    void drop_ended_groups();

    PartitionState& s_;
};

} // namespace yk
