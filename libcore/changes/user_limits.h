// SPDX-License-Identifier: Apache-2.0
#pragma once
// UserLimits: the usage of users and groups and the limits on it: links applications to them and counts (sections 13
// and 14 of docs/spec/config.md).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class UserLimits {
public:
    UserLimits(PartitionState& state, SchedulingIndexes& indexes) : state_(state), indexes_(indexes) {}
    UserLimits(const UserLimits&) = delete;
    UserLimits& operator=(const UserLimits&) = delete;

    /// Sets the limits of a configuration; applications that count for another group now are moved (C-420 to C-427).
    void set(const config::Partition& config, Instant now) noexcept;
    /// From now on the application counts for its user, and for the group that the limits choose, if any.
    void link(ApplicationId id, Instant now) noexcept;
    /// It counts for nobody any more.
    void unlink(ApplicationId id, Instant now) noexcept;
    /// Called after the application's own totals grew.
    void use(ApplicationId id, const Resource& amount, Instant now) noexcept;
    /// Called after the application's own totals shrank. `placeholder`: it was one that was removed.
    void give_back(ApplicationId id, const Resource& amount, bool placeholder, Instant now) noexcept;
    /// Called when an allocation was resized: without an event (S-456).
    void change_use(const Application& application, const Resource& before, const Resource& after) noexcept;

private:
    /// An application that counts for another group from now on.
    struct GroupMove {
        ApplicationId application;
        std::string_view name;
        UsageNodeId from;
        std::string_view group;
    };

    void regroup(Instant now) noexcept;
    void move_all(std::vector<GroupMove>& moves, Instant now) noexcept;
    void move_to_group(std::span<const GroupMove> moves, Instant now) noexcept;
    void move_to_group(ApplicationId id, std::string_view group, Instant now) noexcept;
    void release_held(ApplicationId id) noexcept;
    void leave_running_set(Application& application) noexcept;
    void emit_usage(const Application& application, EventChange change, const Resource& amount, Instant now) noexcept;
    [[nodiscard]] static bool keeps_user_slot(const Application& application, bool placeholder) noexcept;

    PartitionState& state_;
    SchedulingIndexes& indexes_;
};

} // namespace yk
