// SPDX-License-Identifier: Apache-2.0
#pragma once
// Applications: the life of applications: submission, what follows when something of one is removed, and its end (S-144
// to S-154, S-490 to S-493, S-580, G-050 to G-062).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/admission.h"
#include "libcore/changes/application_states.h"
#include "libcore/changes/pending_asks.h"
#include "libcore/changes/placeholder_swaps.h"
#include "libcore/changes/placements.h"
#include "libcore/changes/task_groups.h"
#include "libcore/changes/user_limits.h"
#include "libcore/partition/dynamic_queues.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Applications {
public:
    /// What was removed before settle() is called.
    enum class Removed : std::uint8_t { Ask, Allocation, Placeholder, All };

    Applications(PartitionState& state, SchedulingIndexes& indexes, TaskGroups& task_groups, UserLimits& user_limits,
                 PendingAsks& pending_asks, ApplicationStates& application_states, Placements& placements,
                 PlaceholderSwaps& placeholder_swaps, Admission& admission, DynamicQueues& dynamic_queues)
        : state_(state),
          indexes_(indexes),
          task_groups_(task_groups),
          user_limits_(user_limits),
          pending_asks_(pending_asks),
          application_states_(application_states),
          placements_(placements),
          placeholder_swaps_(placeholder_swaps),
          admission_(admission),
          dynamic_queues_(dynamic_queues) {}
    Applications(const Applications&) = delete;
    Applications& operator=(const Applications&) = delete;

    /// Adds the application; the path of its queue, or why it is refused (S-490).
    [[nodiscard]] Result<std::string, Refusal> add(const ApplicationSpec& spec, Instant now);
    // The two halves of add(): of an application that is refused, try_add() leaves nothing behind, and reject() lists
    // it among the rejected ones.
    [[nodiscard]] Result<std::string, Refusal> try_add(const ApplicationSpec& spec, Instant now);
    void reject(const ApplicationSpec& spec, const Refusal& refusal, Instant now);
    /// An event of its state machine. One that ends the application removes its asks and takes it out of its queue
    /// (S-142, S-143).
    void handle(ApplicationId id, ApplicationEvent event, std::string_view info, Instant now);
    /// The time of an ended application in the list is over: it expires (S-153).
    void expire(EndedApplication& ended, Instant now);
    /// Removes all its asks; those of replacements in flight as well, since for the RM they still are asks.
    void drop_asks(ApplicationId id, Instant now);
    /// Removes all its allocations; returns their keys, sorted.
    [[nodiscard]] std::vector<std::string> drop_allocations(ApplicationId id, EventDetail detail, Instant now);
    /// Removes it with all its asks and allocations, if it exists (S-493).
    void remove(std::string_view id, Instant now);
    /// Notifies the RM that these allocations are released, as it wanted; the first form is for one.
    void echo(std::string_view key, std::string_view application, std::string_view message);
    void echo(const std::vector<std::string>& keys, std::string_view application, std::string_view message);
    /// The timer: its placeholders have timed out, so it fails or resumes without them (G-050, G-051). The order of
    /// notifications is that of G-052.
    void placeholder_timer(ApplicationId id, Instant now);
    /// What follows for the state of an application after something of it was removed.
    void settle(ApplicationId id, Removed removed, Instant now);
    /// The timer: it has been Completing for long enough (S-152).
    void completing_timer(ApplicationId id, Instant now);

private:
    void leave_queue(ApplicationId id, Instant now);
    void end(ApplicationId id, Instant now);
    void destroy(ApplicationId id);
    [[nodiscard]] Instant submission_time(const ApplicationSpec& spec);
    void release_placeholders(ApplicationId id, bool real, Instant now);
    void drop_timed_out_asks(ApplicationId id, bool real, Instant now);

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    TaskGroups& task_groups_;
    UserLimits& user_limits_;
    PendingAsks& pending_asks_;
    ApplicationStates& application_states_;
    Placements& placements_;
    PlaceholderSwaps& placeholder_swaps_;
    Admission& admission_;
    DynamicQueues& dynamic_queues_;
};

} // namespace yk
