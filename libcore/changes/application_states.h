// SPDX-License-Identifier: Apache-2.0
#pragma once
// ApplicationStates: the state machine of applications, apart from the transitions that end one (S-142, S-143), and
// their running slots (S-260 to S-265).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/task_groups.h"
#include "libcore/changes/user_limits.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// Whether an application in this state has ended: it has left its queue and is kept for people only.
[[nodiscard]] bool is_end(ApplicationState state) noexcept;

class ApplicationStates {
public:
    ApplicationStates(PartitionState& state, SchedulingIndexes& indexes, TaskGroups& task_groups,
                      UserLimits& user_limits)
        : state_(state), indexes_(indexes), task_groups_(task_groups), user_limits_(user_limits) {}
    ApplicationStates(const ApplicationStates&) = delete;
    ApplicationStates& operator=(const ApplicationStates&) = delete;

    /// The state that the event leads to; nullopt: it leads to no other one (S-141).
    [[nodiscard]] std::optional<ApplicationState> next(ApplicationId id, ApplicationEvent event) const noexcept;
    /// Changes the state and notifies the RM; an event that leads nowhere changes nothing. REQUIRES: the event does not
    /// end the application: such events go to Applications::handle().
    void handle(ApplicationId id, ApplicationEvent event, std::string_view info, Instant now) noexcept;

    // --- the steps of a transition --------------------------------------------------------------------------------
    /// Sets the state `to`. Returns the one that was left.
    ApplicationState leave(ApplicationId id, ApplicationState to) noexcept;
    /// Notifies the RM and emits an event of the state that was entered.
    void notify(ApplicationId id, ApplicationEvent event, std::string_view info, Instant now) noexcept;

    // --- running slots --------------------------------------------------------------------------------------------
    /// Adds the application to the allocating-accepted set of its queues, or removes it (S-262).
    void set_allocating(Application& application, bool on) noexcept;
    /// Emits events if one of the two flags changed since the last call (S-265).
    void emit_runnable(ApplicationId id, bool in_queue, bool by_quota, Instant now) noexcept;
    /// After a walk that placed nothing: the same for every application with pending asks (S-265).
    void emit_runnable_flags(Instant now) noexcept;

private:
    void enter(ApplicationId id, ApplicationState from, Instant now) noexcept;

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    TaskGroups& task_groups_;
    UserLimits& user_limits_;
};

} // namespace yk
