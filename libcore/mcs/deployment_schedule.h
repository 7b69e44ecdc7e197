// SPDX-License-Identifier: Apache-2.0
#pragma once
// DeploymentSchedule: what has become of the replicas of a Deployment in the scheduler core, with a Placement for each
// of them. The Scheduler writes these rows, one for each Deployment, under the Deployment's id.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/kinds.h"

namespace yk::mcs {

/// How far the application is (rs R-132). The names in the database are these.
enum class ScheduleState : std::uint8_t {
    New,
    Submitted,
    Accepted,
    Scheduling,
    Scheduled, // every replica is placed
    Degraded,  // some are not, for longer than they should
    Rejected,
    Removing
};
[[nodiscard]] std::string_view name_of(ScheduleState state);
[[nodiscard]] std::optional<ScheduleState> schedule_state_of(std::string_view name);

enum class PlacementState : std::uint8_t {
    Pending,   // wanted, and on no node
    Placed,    //
    Releasing, // not wanted any more; the core has not confirmed that yet
    Rejected   // wanted, and the core has refused it
};
[[nodiscard]] std::string_view name_of(PlacementState state);
[[nodiscard]] std::optional<PlacementState> placement_state_of(std::string_view name);

/// One replica. It has no version of its own: who changes it changes the version of its DeploymentSchedule (rs R-017).
struct Placement {
    std::int64_t replica = 0;
    std::int64_t attempt = 0;
    std::string allocation_key;
    std::string node_id; // empty: none
    PlacementState state = PlacementState::Pending;
    std::optional<std::int64_t> placed_ms; // since 1970, for display

    friend bool operator==(const Placement&, const Placement&) = default;
};

// Of placements by ascending replica, at a cost of O(log n):
/// How many are of lower replicas: where the placement of this one is, or would be.
[[nodiscard]] std::ptrdiff_t place_of(const std::vector<Placement>& placements, std::int64_t replica);
/// The placement of the replica; nullptr: it has none.
[[nodiscard]] const Placement* find_placement(const std::vector<Placement>& placements, std::int64_t replica);

struct DeploymentSchedule {
    rs::ResourceMeta meta;
    Owner owner;                // the Deployment
    std::string cascade_parent; // as in DeploymentScale
    std::string application_id;
    std::int64_t observed_scale_version = 0; // of the DeploymentScale that `desired` is of
    std::int64_t desired = 0;
    std::int64_t placed = 0;  // of the placements, those that are Placed
    std::int64_t pending = 0; // of the placements, those that are Pending or Rejected
    ScheduleState state = ScheduleState::New;
    std::string status = "{}"; // conditions: canonical JSON that only the Scheduler reads
    std::uint64_t writer_epoch = 0;
    RowTimes times;
    std::vector<Placement> placements; // by ascending replica
};

} // namespace yk::mcs

template <>
struct yk::rs::ResourceTraits<yk::mcs::DeploymentSchedule> {
    static constexpr Kind kKind = mcs::kScheduleKind;
    static constexpr std::string_view kName = mcs::name_of(mcs::kScheduleKind);
    static constexpr std::string_view kOwner = mcs::kSchedulerService;
    static const ResourceMeta& meta(const mcs::DeploymentSchedule& row) { return row.meta; }
    static std::uint64_t content_hash(const mcs::DeploymentSchedule& row);
};
