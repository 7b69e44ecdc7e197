// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which replicas of a schedule are to be added, given up or started anew, and what a notice of the core means for them.
// Pure: a plan says what is to be written and which keys are to be released; a placement in it that is Pending is to be
// asked for, once it is written.
//
// No allocation key is ever used twice, although the numbers of replicas are: a notice that comes late must not be
// taken for one of another allocation.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/deployment_schedule.h"
#include "libcore/mcs/replicas/schedule_status.h"
#include "libcore/mcs/writes.h"

namespace yk::mcs {

struct ReplicaPlan {
    std::vector<PlacementChange> changes; // one of a replica at most
    std::vector<std::string> releases;    // allocation keys
    Attempts attempts;                    // afterwards

    [[nodiscard]] bool is_empty() const { return changes.empty() && releases.empty(); }
};

/// Whether something may be placed on the node: it is known, and schedulable.
using IsUsable = std::function<bool(std::string_view node_id)>;

/// Makes the number of replicas `wanted`, by at most `most` changes: what is missing gets the lowest numbers that are
/// free (rs R-127); what is too much goes in this order: not placed, on a node that is not usable, and among equals the
/// highest number first (rs R-128).
///
/// A replica that is placed stays in the row until the core confirms its release. One that is not placed goes at once,
/// since the core does not confirm the release of a mere ask; should it have been placed just now, that notice meets no
/// row.
///
/// Cost: O(n log n) of the placements, and the changes. REQUIRES: `wanted` >= 0.
[[nodiscard]] ReplicaPlan plan_scale(const DeploymentSchedule& row, const Attempts& attempts, std::int64_t wanted,
                                     const IsUsable& is_usable, std::size_t most);

/// How many of so many replicas may be without a node because they are started anew: a quarter, at least 1.
[[nodiscard]] std::int64_t most_unavailable(std::int64_t wanted);

/// The Deployment has changed so that what was asked for before is out of date.
[[nodiscard]] Attempts outdated(const DeploymentSchedule& row, const Attempts& attempts);

/// Starts replicas anew that are out of date: those without a node at once, of the others as many as may be without a
/// node now, the lowest numbers first (rs R-127). To be called again when some are placed.
[[nodiscard]] ReplicaPlan plan_restarts(const DeploymentSchedule& row, const Attempts& attempts,
                                        std::int64_t unavailable);

/// All that is wanted begins anew, since the application does: nothing of it is to be released one by one, and what was
/// not wanted any more is gone.
[[nodiscard]] ReplicaPlan plan_resubmission(const DeploymentSchedule& row, const Attempts& attempts);

// --- notices of the core ---------------------------------------------------------------------------------------------
// Of a key that the row does not have, nothing is changed, and `attempts` always stay as they are: what is to be
// written are placements alone (ChangePlacements). Cost: O(log n) of the placements.

/// An allocation was placed. One that nobody wants is released: its key is not in the row (rs R-104).
[[nodiscard]] ReplicaPlan plan_placed(const DeploymentSchedule& row, const Attempts& attempts, const std::string& key,
                                      const std::string& node_id, std::int64_t now_ms);
/// An allocation has gone: the row of a replica that was given up goes, too (rs R-128), one that is wanted is asked for
/// anew (rs R-131).
[[nodiscard]] ReplicaPlan plan_gone(const DeploymentSchedule& row, const Attempts& attempts, std::string_view key);
/// The core has refused an ask. The same key may be asked for again, since the core has not taken it.
[[nodiscard]] ReplicaPlan plan_rejected(const DeploymentSchedule& row, const Attempts& attempts, std::string_view key);

/// What the core has refused is to be asked for again.
[[nodiscard]] ReplicaPlan plan_again(const DeploymentSchedule& row, const Attempts& attempts);

} // namespace yk::mcs
