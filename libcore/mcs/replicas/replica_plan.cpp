// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/replica_plan.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/mcs/replicas/application_requests.h"
#include "libcore/mcs/replicas/schedule_progress.h"

namespace yk::mcs {
namespace {

[[nodiscard]] bool is_wanted(const Placement& each) {
    return each.state != PlacementState::Releasing;
}
[[nodiscard]] bool is_placed(const Placement& each) {
    return each.state == PlacementState::Placed;
}

/// The number of the replica in an allocation key; nullopt: it is none of ours.
[[nodiscard]] std::optional<std::int64_t> replica_of(std::string_view key) {
    const std::size_t at = key.rfind("/r");
    if (at == std::string_view::npos) return std::nullopt;
    key.remove_prefix(at + 2);
    std::int64_t replica = 0;
    const auto parsed = std::from_chars(key.begin(), key.end(), replica);
    return parsed.ec == std::errc{} ? std::optional{replica} : std::nullopt;
}

[[nodiscard]] const Placement* find_key(const DeploymentSchedule& row, std::string_view key) {
    const std::optional<std::int64_t> replica = replica_of(key);
    if (!replica) return nullptr;
    const Placement* const found = find_placement(row.placements, *replica);
    return found == nullptr || found->allocation_key != key ? nullptr : found;
}

void put(ReplicaPlan& plan, Placement placement) {
    const std::int64_t replica = placement.replica;
    plan.changes.push_back({replica, std::move(placement)});
}

/// The row of the replica goes, and its number may be given to another one.
void drop(ReplicaPlan& plan, const Placement& gone) {
    plan.changes.push_back({gone.replica, std::nullopt});
}

void try_anew(ReplicaPlan& plan, const DeploymentSchedule& row, const Placement& lost) {
    const std::int64_t attempt = std::max(plan.attempts.next, lost.attempt + 1);
    put(plan, pending_placement(row.application_id, lost.replica, attempt));
}

void add(ReplicaPlan& plan, const DeploymentSchedule& row, std::int64_t count) {
    auto taken = row.placements.begin();
    for (std::int64_t replica = 0; count > 0; ++replica) {
        if (taken != row.placements.end() && taken->replica == replica) {
            ++taken;
            continue;
        }
        put(plan, pending_placement(row.application_id, replica, plan.attempts.next));
        --count;
    }
}

/// What is asked to go although the core may just have placed it is released as if it were.
void give_up(ReplicaPlan& plan, const Placement& placement) {
    plan.releases.push_back(placement.allocation_key);
    plan.attempts.next = std::max(plan.attempts.next, placement.attempt + 1);
    if (!is_placed(placement)) return drop(plan, placement);
    Placement releasing = placement;
    releasing.state = PlacementState::Releasing;
    put(plan, std::move(releasing));
}

void take_away(ReplicaPlan& plan, const DeploymentSchedule& row, std::size_t count, const IsUsable& is_usable) {
    struct Candidate {
        bool is_placed;
        bool is_usable;
        const Placement* placement;
    };
    std::vector<Candidate> candidates;
    for (const Placement& each : row.placements)
        if (is_wanted(each)) candidates.push_back({is_placed(each), is_placed(each) && is_usable(each.node_id), &each});
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return std::tuple{a.is_placed, a.is_usable, -a.placement->replica} <
               std::tuple{b.is_placed, b.is_usable, -b.placement->replica};
    });
    for (std::size_t at = 0; at < count; ++at) give_up(plan, *candidates[at].placement);
}

} // namespace

ReplicaPlan plan_scale(const DeploymentSchedule& row, const Attempts& attempts, std::int64_t wanted,
                       const IsUsable& is_usable, std::size_t most) {
    YK_CHECK(wanted >= 0, "no fewer than none are wanted");
    ReplicaPlan plan{{}, {}, attempts};
    const std::int64_t present = counts_of(row.placements).wanted();
    if (present < wanted) add(plan, row, std::min(wanted - present, static_cast<std::int64_t>(most)));
    if (present > wanted) take_away(plan, row, std::min(static_cast<std::size_t>(present - wanted), most), is_usable);
    return plan;
}

std::int64_t most_unavailable(std::int64_t wanted) {
    constexpr std::int64_t kParts = 4;
    return std::max<std::int64_t>(1, wanted / kParts + (wanted % kParts == 0 ? 0 : 1));
}

Attempts outdated(const DeploymentSchedule& row, const Attempts& attempts) {
    Attempts after = attempts;
    for (const Placement& each : row.placements) after.next = std::max(after.next, each.attempt + 1);
    after.current = after.next;
    return after;
}

ReplicaPlan plan_restarts(const DeploymentSchedule& row, const Attempts& attempts, std::int64_t unavailable) {
    ReplicaPlan plan{{}, {}, attempts};
    std::int64_t left = unavailable - counts_of(row.placements).pending;
    for (const Placement& each : row.placements) {
        if (!is_wanted(each) || each.attempt >= attempts.current) continue;
        if (is_placed(each) && left-- <= 0) continue;
        plan.releases.push_back(each.allocation_key);
        try_anew(plan, row, each);
    }
    return plan;
}

ReplicaPlan plan_resubmission(const DeploymentSchedule& row, const Attempts& attempts) {
    ReplicaPlan plan{{}, {}, outdated(row, attempts)};
    for (const Placement& each : row.placements) {
        if (is_wanted(each))
            try_anew(plan, row, each);
        else
            drop(plan, each);
    }
    return plan;
}

ReplicaPlan plan_placed(const DeploymentSchedule& row, const Attempts& attempts, const std::string& key,
                        const std::string& node_id, std::int64_t now_ms) {
    ReplicaPlan plan{{}, {}, attempts};
    const Placement* const found = find_key(row, key);
    if (found == nullptr) {
        plan.releases.push_back(key);
        return plan;
    }
    if (!is_wanted(*found) || (is_placed(*found) && found->node_id == node_id)) return plan;
    Placement placed = *found;
    placed.state = PlacementState::Placed;
    placed.node_id = node_id;
    placed.placed_ms = now_ms;
    put(plan, std::move(placed));
    return plan;
}

ReplicaPlan plan_gone(const DeploymentSchedule& row, const Attempts& attempts, std::string_view key) {
    ReplicaPlan plan{{}, {}, attempts};
    const Placement* const found = find_key(row, key);
    if (found == nullptr) return plan;
    if (is_wanted(*found))
        try_anew(plan, row, *found);
    else
        drop(plan, *found);
    return plan;
}

ReplicaPlan plan_rejected(const DeploymentSchedule& row, const Attempts& attempts, std::string_view key) {
    ReplicaPlan plan{{}, {}, attempts};
    const Placement* const found = find_key(row, key);
    if (found == nullptr || found->state != PlacementState::Pending) return plan;
    Placement rejected = *found;
    rejected.state = PlacementState::Rejected;
    put(plan, std::move(rejected));
    return plan;
}

ReplicaPlan plan_again(const DeploymentSchedule& row, const Attempts& attempts) {
    ReplicaPlan plan{{}, {}, attempts};
    for (const Placement& each : row.placements) {
        if (each.state != PlacementState::Rejected) continue;
        Placement pending = each;
        pending.state = PlacementState::Pending;
        put(plan, std::move(pending));
    }
    return plan;
}

} // namespace yk::mcs
