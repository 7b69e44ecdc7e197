// SPDX-License-Identifier: Apache-2.0
#pragma once
// A DeploymentSchedule that takes plans over as the database does.

#include <string>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/mcs/replicas/application_requests.h"
#include "libcore/mcs/replicas/replica_plan.h"

namespace yk::testing {

struct ScheduleRow {
    mcs::DeploymentSchedule row;
    mcs::Attempts attempts;

    ScheduleRow() { row.application_id = "app"; }

    void add(std::int64_t replica, mcs::PlacementState state, std::string node_id = {}, std::int64_t attempt = 0) {
        mcs::Placement made = mcs::pending_placement("app", replica, attempt);
        made.state = state;
        made.node_id = std::move(node_id);
        set({replica, std::move(made)});
    }
    void apply(const mcs::ReplicaPlan& plan) {
        for (const mcs::PlacementChange& each : plan.changes) set(each);
        attempts = plan.attempts;
    }

private:
    void set(const mcs::PlacementChange& change) {
        auto& all = row.placements;
        const auto at = all.begin() + mcs::place_of(all, change.replica);
        const bool is_there = at != all.end() && at->replica == change.replica;
        YK_CHECK(is_there || change.placement, "a plan removes only what is there");
        if (!change.placement)
            all.erase(at);
        else if (is_there)
            *at = *change.placement;
        else
            all.insert(at, *change.placement);
    }
};

} // namespace yk::testing
