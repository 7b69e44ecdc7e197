// SPDX-License-Identifier: Apache-2.0
// Random numbers of replicas, placements, losses and changes of the Deployment, with a core that remembers each key.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "libcore/mcs/replicas/replica_plan.h"
#include "libcore/mcs/replicas/schedule_progress.h"
#include "tests/unit/libcore/mcs/replicas/schedule_row.h"

namespace yk::testing {

using namespace mcs;

namespace {

/// What the core has; notices that are under way come later, in any order.
struct RandomCore {
    explicit RandomCore(std::uint64_t seed) : random(seed) {}

    std::mt19937_64 random;
    ScheduleRow row;
    std::set<std::string> asked_ever;
    std::set<std::string> asks;
    std::map<std::string, std::string> allocations; // key to node
    std::vector<std::string> placed, gone;          // notices under way
    std::int64_t wanted = 0;

    std::size_t below(std::size_t bound) { return random() % bound; }

    void apply(const ReplicaPlan& plan) {
        row.apply(plan);
        for (const PlacementChange& each : plan.changes) {
            if (!each.placement || each.placement->state != PlacementState::Pending) continue;
            INFO(each.placement->allocation_key);
            CHECK(asked_ever.insert(each.placement->allocation_key).second);
            asks.insert(each.placement->allocation_key);
        }
        for (const std::string& key : plan.releases) {
            asks.erase(key);
            if (allocations.erase(key) > 0) gone.push_back(key); // the release of a mere ask is not confirmed
        }
    }
    void place() {
        if (asks.empty()) return;
        const auto at = std::next(asks.begin(), static_cast<std::ptrdiff_t>(below(asks.size())));
        allocations.emplace(*at, "n" + std::to_string(below(4)));
        placed.push_back(*at);
        asks.erase(at);
    }
    void lose() {
        if (allocations.empty()) return;
        const auto at = std::next(allocations.begin(), static_cast<std::ptrdiff_t>(below(allocations.size())));
        if (std::find(placed.begin(), placed.end(), at->first) != placed.end()) return; // its notice comes first
        gone.push_back(at->first);
        allocations.erase(at);
    }
    void notify() {
        if (!placed.empty()) {
            const std::string key = placed.front();
            placed.erase(placed.begin());
            const auto found = allocations.find(key);
            apply(plan_placed(row.row, row.attempts, key, found == allocations.end() ? "n9" : found->second, 1));
        } else if (!gone.empty()) {
            const std::string key = gone.front();
            gone.erase(gone.begin());
            apply(plan_gone(row.row, row.attempts, key));
        }
    }
    void rescale() {
        const auto is_usable = [](std::string_view node_id) { return node_id != "n3"; };
        const std::size_t before = row.row.placements.size();
        const ReplicaPlan plan = plan_scale(row.row, row.attempts, wanted, is_usable, 1'000);
        apply(plan);
        CHECK(counts_of(row.row.placements).wanted() == wanted);
        if (row.row.placements.size() > before) check_lowest(plan);
    }
    /// Below the highest number that was given out none is free.
    void check_lowest(const ReplicaPlan& plan) const {
        std::set<std::int64_t> taken;
        for (const Placement& each : row.row.placements) taken.insert(each.replica);
        const std::int64_t highest = plan.changes.back().replica;
        for (std::int64_t replica = 0; replica <= highest; ++replica) CHECK(taken.contains(replica));
    }
    void step() {
        switch (below(8)) {
        case 0:
            wanted = static_cast<std::int64_t>(below(12));
            rescale();
            break;
        case 1: row.attempts = outdated(row.row, row.attempts); break;
        case 2: apply(plan_restarts(row.row, row.attempts, most_unavailable(wanted))); break;
        case 3: lose(); break;
        case 4:
        case 5: notify(); break;
        default: place();
        }
    }
    /// No more losses: the core places all that is asked for, and every notice arrives.
    void come_to_rest() {
        rescale();
        for (int rounds = 0; rounds < 1'000; ++rounds) {
            while (!asks.empty()) place();
            while (!placed.empty() || !gone.empty()) notify();
            const ReplicaPlan restarts = plan_restarts(row.row, row.attempts, most_unavailable(wanted));
            if (restarts.is_empty() && asks.empty()) return;
            apply(restarts);
        }
        FAIL("it never comes to rest");
    }
};

} // namespace

TEST_CASE("rs R-126 rs R-127 rs R-128 rs R-131 random: no key twice, lowest numbers first, nothing lost or left over") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        INFO("seed " << seed);
        RandomCore core{seed};
        for (int steps = 0; steps < 300; ++steps) core.step();
        core.come_to_rest();
        const ReplicaCounts counts = counts_of(core.row.row.placements);
        CHECK(counts == ReplicaCounts{core.wanted, 0, 0});
        CHECK(core.allocations.size() == static_cast<std::size_t>(core.wanted));
        for (const Placement& each : core.row.row.placements) {
            CHECK(core.allocations.at(each.allocation_key) == each.node_id);
            CHECK(each.attempt >= core.row.attempts.current);
        }
    }
}

} // namespace yk::testing
