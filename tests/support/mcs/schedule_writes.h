// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScheduleWrites: carries out the writes of the Scheduler on rows in memory, with the answers that libcore/mcs/writes.h
// promises. A test says what goes wrong.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libcore/mcs/write_call.h"
#include "tests/support/mcs/row_checks.h"
#include "tests/support/resource_state/memory_database.h"

namespace yk::testing {

class ScheduleWrites {
public:
    ScheduleWrites(MemoryDatabase& database, MemoryStore<mcs::Deployment>& deployments,
                   MemoryStore<mcs::DeploymentScale>& scales, MemoryStore<mcs::DeploymentSchedule>& schedules)
        : database_(database), deployments_(deployments), scales_(scales), schedules_(schedules) {}

    [[nodiscard]] mcs::WriteOutcome carry_out(const mcs::WriteRequest& request) {
        if (request.writer.service != mcs::owner_of(request.command)) return mcs::NotOwner{"not its owner"};
        if (request.writer.lease_epoch != lease_epoch) return mcs::Fenced{"another instance leads"};
        if (fault)
            if (auto outcome = fault(request)) return *std::move(outcome);
        ++count;
        return std::visit([this](const auto& command) { return put(command); }, request.command);
    }

    /// What is wrong with a write, if anything: nothing is written then.
    std::function<std::optional<mcs::WriteOutcome>(const mcs::WriteRequest&)> fault;
    std::uint64_t lease_epoch = 1;
    std::size_t count = 0; // of writes that were carried out

private:
    using What = mcs::Conflict::What;

    template <class Command>
    mcs::WriteOutcome put(const Command&) {
        return mcs::Fatal{"not here"};
    }
    mcs::WriteOutcome put(const mcs::InsertSchedule& command) {
        const std::string& id = command.row.meta.id;
        if (!has_owner(deployments_, command.row.owner)) return mcs::Conflict{What::OwnerGone, id, 0};
        const auto found = schedules_.rows().find(id);
        if (found != schedules_.rows().end() && found->second.owner.uid == command.row.owner.uid)
            return mcs::Conflict{What::Exists, id, found->second.meta.version};
        if (found != schedules_.rows().end()) schedules_.drop(id);
        mcs::DeploymentSchedule row = command.row;
        recount(row);
        schedules_.create(row);
        return written_to(schedules_, id, database_);
    }
    mcs::WriteOutcome put(const mcs::UpdateSchedule& command) {
        const std::string& id = command.row.meta.id;
        if (auto refused = refusal_of(schedules_, id, command.expect)) return *std::move(refused);
        schedules_.change(id, [&](mcs::DeploymentSchedule& row) {
            row.application_id = command.row.application_id;
            row.observed_scale_version = command.row.observed_scale_version;
            row.desired = command.row.desired;
            row.state = command.row.state;
            row.status = command.row.status;
            apply(row, command.changes);
        });
        return written_to(schedules_, id, database_);
    }
    mcs::WriteOutcome put(const mcs::DeleteSchedule& command) {
        const auto found = schedules_.rows().find(command.id);
        if (found == schedules_.rows().end()) return mcs::Written{command.expect.uid, 0, {}};
        if (command.only_if_orphaned && has_parents(found->second))
            return mcs::Conflict{What::NotOrphaned, command.id, found->second.meta.version};
        if (auto refused = refusal_of(schedules_, command.id, command.expect)) return *std::move(refused);
        schedules_.drop(command.id);
        return mcs::Written{command.expect.uid, 0, {}};
    }
    mcs::WriteOutcome put(const mcs::ChangePlacements& command) {
        if (auto refused = refusal_of(schedules_, command.schedule_id, {command.schedule_uid, 0}))
            return *std::move(refused);
        schedules_.change(
            command.schedule_id,
            [&](mcs::DeploymentSchedule& row) {
                apply(row, command.changes);
                if (command.state) row.state = *command.state;
            },
            true);
        return written_to(schedules_, command.schedule_id, database_);
    }

    static void apply(mcs::DeploymentSchedule& row, const std::vector<mcs::PlacementChange>& changes) {
        std::map<std::int64_t, mcs::Placement> all;
        for (mcs::Placement& each : row.placements) all.emplace(each.replica, std::move(each));
        for (const mcs::PlacementChange& each : changes) {
            all.erase(each.replica);
            if (each.placement) all.emplace(each.replica, *each.placement);
        }
        row.placements.clear();
        for (auto& each : all) row.placements.push_back(std::move(each.second));
        recount(row);
    }
    static void recount(mcs::DeploymentSchedule& row) {
        using State = mcs::PlacementState;
        const auto count_of = [&](State state) {
            return std::count_if(row.placements.begin(), row.placements.end(),
                                 [&](const mcs::Placement& each) { return each.state == state; });
        };
        row.placed = count_of(State::Placed);
        row.pending = count_of(State::Pending) + count_of(State::Rejected);
    }
    [[nodiscard]] bool has_parents(const mcs::DeploymentSchedule& row) const {
        const auto scale = scales_.rows().find(row.owner.id);
        return has_owner(deployments_, row.owner) && scale != scales_.rows().end() &&
               scale->second.owner.uid == row.owner.uid;
    }
    MemoryDatabase& database_;
    MemoryStore<mcs::Deployment>& deployments_;
    MemoryStore<mcs::DeploymentScale>& scales_;
    MemoryStore<mcs::DeploymentSchedule>& schedules_;
};

} // namespace yk::testing
