// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/deployment_schedule.h"

#include <algorithm>
#include <array>

#include "libcore/mcs/content_hash.h"

namespace yk::mcs {
namespace {

constexpr std::array<std::string_view, 8> kScheduleStates{"New",       "Submitted", "Accepted", "Scheduling",
                                                          "Scheduled", "Degraded",  "Rejected", "Removing"};
constexpr std::array<std::string_view, 4> kPlacementStates{"Pending", "Placed", "Releasing", "Rejected"};

template <class State, std::size_t N>
std::optional<State> find_state(const std::array<std::string_view, N>& names, std::string_view name) {
    const auto* const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<State>(found - names.begin());
}

} // namespace

std::string_view name_of(ScheduleState state) {
    return kScheduleStates.at(static_cast<std::size_t>(state));
}

std::optional<ScheduleState> schedule_state_of(std::string_view name) {
    return find_state<ScheduleState>(kScheduleStates, name);
}

std::string_view name_of(PlacementState state) {
    return kPlacementStates.at(static_cast<std::size_t>(state));
}

std::optional<PlacementState> placement_state_of(std::string_view name) {
    return find_state<PlacementState>(kPlacementStates, name);
}

std::ptrdiff_t place_of(const std::vector<Placement>& placements, std::int64_t replica) {
    const auto is_lower = [](const Placement& each, std::int64_t number) { return each.replica < number; };
    return std::lower_bound(placements.begin(), placements.end(), replica, is_lower) - placements.begin();
}

const Placement* find_placement(const std::vector<Placement>& placements, std::int64_t replica) {
    const auto found = placements.begin() + place_of(placements, replica);
    return found == placements.end() || found->replica != replica ? nullptr : &*found;
}

} // namespace yk::mcs

namespace yk::rs {

std::uint64_t ResourceTraits<mcs::DeploymentSchedule>::content_hash(const mcs::DeploymentSchedule& row) {
    mcs::ContentHash hash;
    hash.add(row.owner).add(row.cascade_parent).add(row.application_id).add(row.observed_scale_version);
    hash.add(row.desired).add(row.placed).add(row.pending).add(name_of(row.state)).add(row.status);
    hash.add(row.placements.size());
    for (const mcs::Placement& each : row.placements) {
        hash.add(each.replica).add(each.attempt).add(each.allocation_key).add(each.node_id);
        hash.add(name_of(each.state)).add(each.placed_ms.value_or(-1));
    }
    return hash.value();
}

} // namespace yk::rs
