// SPDX-License-Identifier: Apache-2.0
#pragma once
// AttemptLog: what an attempt to place an ask leaves behind on the ask: a flag that it was tried, what it failed on,
// and the events about that (S-113, S-114, S-605).
//
// An ask that the walk looked at is noted at once. Equal asks behind it in its group would fail alike and are not
// looked at; they are noted after a walk that placed nothing. AskGroup::first_unreported is the first ask of the group
// that is not noted yet.
//
// Owner: PartitionContext. Thread: the partition's owner. Changes flags and notes of asks and groups, never usage.

#include <cstddef>
#include <string>
#include <vector>

#include "libcore/state/partition_state.h"

namespace yk {

class AttemptLog {
public:
    explicit AttemptLog(PartitionState& state) : state_(state) {}

    // --- the ask that is tried ---------------------------------------------------------------------------------------
    void passed_user_limit(AllocationId id, Instant now);
    void passed_headroom(AllocationId id, Instant now);
    /// Notes what the ask failed on. If that is new for its group, all its asks are noted when the walk is over.
    void note(AskGroup& group, AllocationId ask, AskGroup::Note why, Instant now);
    /// The ask was noted by the walk itself: AskGroup::first_unreported advances past it.
    void tried(AskGroup& group, AllocationId ask);
    /// Emits the RM's reasons of this round for refusing nodes, at most once per interval and ask (S-605).
    void emit_refusals(AllocationId ask, Instant now);

    // --- asks that were passed over ----------------------------------------------------------------------------------
    /// Remembers that the group has asks that are not noted yet.
    void list_unreported(GroupId id) noexcept;
    /// After a walk that placed nothing: notes on every ask that was passed over what an attempt would have noted
    /// (S-114). Cost: the asks that are not noted yet.
    void note_passed_over(Instant now);
    /// How many groups are listed, those included that have ended meanwhile.
    [[nodiscard]] std::size_t listed() const noexcept { return unreported_.size(); }

private:
    /// What asks of the shape would fail on: the user's limit, the queues, else the nodes (S-341, steps 3 and 5).
    [[nodiscard]] AskGroup::Note headroom_note(const Application& application, const Shape& shape) const;
    void note_on(AllocationId id, AskGroup::Note why, Instant now);
    void attempted(Allocation& ask);
    void failed_user_limit(AllocationId id, Instant now);
    void failed_headroom(AllocationId id, Instant now);
    void emit_no_node(const Allocation& ask, const std::string& verdict, const Limit& available, Instant now);
    void emit_user_limit(const Allocation& ask, bool fits_now, Instant now);
    void emit_headroom(const Allocation& ask, bool fits_now, Instant now);
    void drop_ended_groups() noexcept;

    PartitionState& state_;
    std::vector<GroupId> unreported_;     // some have ended
    std::size_t unreported_limit_ = 1024; // at this size, groups that ended are taken out of it
};

} // namespace yk
