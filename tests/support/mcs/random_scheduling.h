// SPDX-License-Identifier: Apache-2.0
#pragma once
// RandomScheduling: a Scheduler to which anything happens at any moment, as a seed wants it: users, nodes, the
// database, the core and a person with a shell. Once they stop, rows and core have to agree, and everything that is
// wanted runs.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "libcore/resource_state/backoff.h"
#include "tests/support/mcs/scheduler_world.h"

namespace yk::testing {

/// Owner and thread: whoever plays it, once.
class RandomScheduling {
public:
    explicit RandomScheduling(std::uint64_t seed) : chance_(seed), world_(seed) {
        for (int i = 0; i < 3; ++i) world_.add_node("n" + std::to_string(i), 20);
        world_.start();
    }

    /// What is wrong in the end; empty: nothing.
    [[nodiscard]] std::string play() {
        for (int steps = 0; steps < 60; ++steps) {
            act();
            if (one_in(3))
                world_.pass(std::chrono::milliseconds{pick(2'000)});
            else
                for (std::uint64_t some = pick(30); some > 0 && world_.step(); --some) {
                }
        }
        return outcome();
    }

private:
    using Kind = rs::Kind;

    /// Nothing befalls anybody any more; empty: all is as it should be.
    [[nodiscard]] std::string outcome() {
        world_.writes.fault = nullptr;
        world_.core.refused_queues.clear();
        world_.core.most_vcore = 1'000'000;
        for (int i = 0; i < 8; ++i) world_.add_node("spare" + std::to_string(i), 100);
        for (const Kind kind : {mcs::kDeploymentKind, mcs::kScaleKind, mcs::kScheduleKind, mcs::kNodeKind})
            world_.manager.request_resync(kind, world_.now);
        world_.pass(std::chrono::seconds{700});
        if (world_.scheduler.core().state() == mcs::RmState::Failed) return "the recovery has failed";
        if (std::string difference = world_.difference(); !difference.empty()) return difference;
        for (const auto& [id, row] : world_.deployment_rows.rows()) {
            const std::int64_t wanted = world_.scale_rows.rows().find(id)->second.desired;
            if (world_.placed(id) != wanted)
                return id + " has " + std::to_string(world_.placed(id)) + " of " + std::to_string(wanted);
            if (world_.state(id) != mcs::ScheduleState::Scheduled)
                return id + " is " + std::string{name_of(world_.state(id))};
            const auto status = world_.texts.status_of(world_.schedule(id)->status);
            if (status.value().has_outdated()) return id + " has replicas that are out of date";
        }
        if (world_.scheduler.unwritten() != 0) return "something is not written";
        return {};
    }

    [[nodiscard]] std::uint64_t pick(std::uint64_t below) { return chance_.next() % below; }
    [[nodiscard]] bool one_in(std::uint64_t count) { return pick(count) == 0; }
    [[nodiscard]] std::string some_id() { return "d" + std::to_string(pick(4)); }

    void act() {
        switch (pick(16)) {
        case 0:
        case 1:
        case 2: return make();
        case 3:
        case 4: return with_one([&](const std::string& id) { world_.scale(id, number()); });
        case 5:
            return with_one([&](const std::string& id) {
                if (one_in(2)) world_.drop(id);
            });
        case 6: return change();
        case 7: return change_node();
        case 8: return fail_writes();
        case 9: return evict();
        case 10: return end_application();
        case 11: return shell();
        case 12:
            if (one_in(3)) world_.restart_core();
            return;
        case 13: world_.core.most_vcore = one_in(2) ? 1 : 1'000'000; return;
        case 14:
            if (one_in(2))
                world_.core.refused_queues.insert("root.b");
            else
                world_.core.refused_queues.clear();
            return;
        default: return stand_down();
        }
    }
    [[nodiscard]] std::int64_t number() { return static_cast<std::int64_t>(pick(12)); }
    void make() {
        const std::string id = some_id();
        if (!world_.deployment_rows.rows().contains(id) && !world_.scale_rows.rows().contains(id))
            world_.deploy(id, number(), one_in(4) ? "root.b" : "root.a");
    }
    template <class Use>
    void with_one(Use&& use) {
        const std::string id = some_id();
        if (world_.deployment_rows.rows().contains(id)) use(id);
    }
    void change() {
        with_one([&](const std::string& id) {
            world_.deployment_rows.change(id, [&](mcs::Deployment& row) {
                switch (pick(4)) {
                case 0: row.queue = one_in(2) ? "root.a" : "root.b"; return;
                case 1: row.priority = static_cast<std::int32_t>(pick(5)); return;
                case 2: row.delete_mode = one_in(2) ? mcs::DeleteMode::Owners : mcs::DeleteMode::Cascade; return;
                default: row.resource = {{"vcore", static_cast<std::int64_t>(1 + pick(2))}}; return;
                }
            });
        });
    }
    void change_node() {
        const std::string id = "n" + std::to_string(pick(3));
        const bool is_there = world_.node_rows.rows().contains(id);
        if (!is_there) return world_.add_node(id, 20);
        if (one_in(2)) return world_.node_rows.drop(id);
        world_.node_rows.change(id, [&](mcs::Node& row) { row.is_schedulable = one_in(2); });
    }
    void fail_writes() {
        if (one_in(2)) {
            world_.writes.fault = nullptr;
            return;
        }
        world_.writes.fault = [this](const mcs::WriteRequest&) -> std::optional<mcs::WriteOutcome> {
            if (one_in(3)) return mcs::Transient{"away"};
            return std::nullopt;
        };
    }
    void evict() {
        if (world_.core.allocations.empty()) return;
        auto at = world_.core.allocations.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(pick(world_.core.allocations.size())));
        world_.core.evict(at->first);
    }
    void end_application() {
        if (world_.core.applications.empty()) return;
        auto at = world_.core.applications.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(pick(world_.core.applications.size())));
        const std::string id = at->first;
        const bool is_silent =
            one_in(2) && world_.scheduler.core().state() != mcs::RmState::Recovering; // it would never end
        is_silent ? world_.core.remove_application(id) : world_.core.end_application(id);
    }
    /// Somebody writes in the rows of schedules.
    void shell() {
        const std::string id = some_id();
        if (!world_.schedule_rows.rows().contains(id)) return;
        if (one_in(4)) return world_.schedule_rows.drop(id);
        world_.schedule_rows.change(id, [&](mcs::DeploymentSchedule& row) {
            if (one_in(4)) row.status = "nonsense";
            if (one_in(2)) row.desired = number();
            if (!row.placements.empty() && one_in(2)) row.placements.erase(row.placements.begin());
        });
    }
    /// Another instance leads for a while, and has done nothing.
    void stand_down() {
        if (!one_in(4)) return;
        world_.stand_down();
        while (world_.carry_out()) {
        }
        world_.take_over(world_.writes.lease_epoch + 1);
    }

    rs::Chance chance_;
    SchedulerWorld world_;
};

} // namespace yk::testing
