// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows to write into a database of mcs, and who writes them in tests.

#include <string>

#include "libcore/mcs/writes.h"

namespace yk::testing {

const mcs::WriterIdentity kApi{"api", 0}, kScaler{"autoscaler", 3}, kPlacer{"scheduler", 4};

struct McsRows {
    static mcs::Deployment deployment(const std::string& id, mcs::DeleteMode mode = mcs::DeleteMode::Cascade) {
        mcs::Deployment row;
        row.meta.id = id;
        row.meta.uid = "u" + id;
        row.name = "name-" + id;
        row.queue = "root.q";
        row.max_replicas = 5;
        row.delete_mode = mode;
        return row;
    }
    static mcs::DeploymentScale scale(const std::string& id, const std::string& owner_uid = {}) {
        mcs::DeploymentScale row;
        row.meta.id = id;
        row.owner = {mcs::kDeploymentKind, id, owner_uid.empty() ? "u" + id : owner_uid};
        return row;
    }
    static mcs::DeploymentSchedule schedule(const std::string& id) {
        mcs::DeploymentSchedule row;
        row.meta.id = id;
        row.meta.uid = "p" + id;
        row.owner = {mcs::kDeploymentKind, id, "u" + id};
        row.placements = {{1, 1, "k1", "n", mcs::PlacementState::Placed, 5},
                          {2, 1, "k2", "", mcs::PlacementState::Pending, {}}};
        return row;
    }
    static mcs::PlacementChange placed(std::int64_t replica) {
        return {replica, mcs::Placement{replica, 2, "k", "n", mcs::PlacementState::Placed, 9}};
    }
};

} // namespace yk::testing
