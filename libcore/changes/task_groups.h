// SPDX-License-Identifier: Apache-2.0
#pragma once
// TaskGroups: the task groups of gangs: which asks and placeholders belong to which group, which placeholders are free
// to be replaced, and when they time out (G-003 to G-026).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/planning/attempt_log.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"
#include "libcore/state/victim_index.h"

namespace yk {

class TaskGroups {
public:
    TaskGroups(PartitionState& state, SchedulingIndexes& indexes, VictimIndex& victims, AttemptLog& attempt_log)
        : state_(state), indexes_(indexes), victims_(victims), attempt_log_(attempt_log) {}
    TaskGroups(const TaskGroups&) = delete;
    TaskGroups& operator=(const TaskGroups&) = delete;

    /// Sets style and time-out of the gang from the request that submits the application (G-003, G-007).
    void configure(Gang& gang, const ApplicationSpec& spec, Instant now) const noexcept;
    /// The group of that name, which is a number in the table of texts. A group that nobody uses is removed by the next
    /// changed().
    [[nodiscard]] TaskGroup& find_or_make(Application& application, std::uint32_t name) noexcept;
    /// Called after each change of a task group: brings up to date whether its asks wait for placeholders and whether
    /// any can be replaced. REQUIRES: the group exists.
    void changed(ApplicationId id, std::uint32_t name) noexcept;
    /// Lists a pending real ask as one that may replace a placeholder of its group.
    void list(AllocationId id) noexcept;
    /// Takes it off that list.
    void unlist(AllocationId id) noexcept;
    /// Counts a placeholder that was made, pending or reported as placed (G-024).
    void count_placeholder(AllocationId id) noexcept;
    /// Counts a placeholder that is removed: as replaced if it has a partner, else as timed out (G-026).
    void count_placeholder_removed(AllocationId id) noexcept;
    /// Gives a pending ask another task group; a placeholder is counted there from then on (G-025).
    void change(AllocationId id, std::uint32_t name) noexcept;
    /// Called when a placeholder was placed: it is free to be replaced, and may time out.
    void hold(AllocationId id, Instant now) noexcept;
    /// Emits, once, that the placeholders of the application have another sum than it announced, because of which it
    /// stays Accepted (G-006, G-011). Called when they are more than announced, and when they time out.
    void emit_placeholder_sum(ApplicationId id, Instant now) noexcept;
    /// The placeholder is not free any more: it is removed, or is being released.
    void let_go(AllocationId id) noexcept;
    /// Marks an allocation as leaving by `flag`, Released or Preempted. False, without a change, if it already is: so
    /// replacement, time-out and preemption exclude each other (S-166).
    bool claim(AllocationId id, Allocation::Flag flag) noexcept;
    /// Starts the timer of the application's placeholders, if it does not run (G-022).
    void start_timer(ApplicationId id, Instant now) noexcept;

private:
    PartitionState& state_;
    SchedulingIndexes& indexes_;
    VictimIndex& victims_;
    AttemptLog& attempt_log_;
};

} // namespace yk
