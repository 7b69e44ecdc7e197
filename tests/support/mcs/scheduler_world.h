// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Scheduler with its handlers, a database and a core in memory, a log that a test may spoil, and a clock that it
// moves. The scales are the test's: there is no Autoscaler.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/mcs/scheduler/scheduler_handlers.h"
#include "libcore/mcs/scheduler/scheduler_reconciler.h"
#include "libcore/resource_state/state_manager.h"
#include "tests/support/mcs/deployments.h"
#include "tests/support/mcs/fake_core.h"
#include "tests/support/mcs/schedule_writes.h"
#include "tests/support/resource_state/faulty_log.h"
#include "tests/support/resource_state/world.h"

namespace yk::testing {

/// Texts that are numbers of values which it keeps.
class KeptScheduleTexts final : public mcs::ScheduleTexts {
public:
    [[nodiscard]] std::string text_of(const mcs::ScheduleStatus& status) const override {
        const auto found = std::find(statuses_.begin(), statuses_.end(), status);
        const auto at = found - statuses_.begin();
        if (found == statuses_.end()) statuses_.push_back(status);
        return "#" + std::to_string(at);
    }
    [[nodiscard]] Result<mcs::ScheduleStatus> status_of(std::string_view text) const override {
        if (text.empty() || text[0] != '#') return Error::of("no such status");
        return statuses_.at(std::stoul(std::string{text.substr(1)}));
    }

private:
    mutable std::vector<mcs::ScheduleStatus> statuses_;
};

struct SchedulerWorld {
    explicit SchedulerWorld(std::uint64_t seed = 1, const rs::Settings& settings = {})
        : log(database, true, seed),
          manager(log, notices, settings, seed),
          deployments(manager.add(deployment_rows)),
          scales(manager.add(scale_rows)),
          schedules(manager.add(schedule_rows)),
          nodes(manager.add(node_rows)),
          scheduler({deployments.cache(), scales.cache(), schedules.cache(), nodes.cache(), texts, queue, requests,
                     core.make_sums()},
                    {}, seed),
          on_deployment(scheduler, deployments),
          on_scale(scheduler, scales, deployments.cache()),
          on_schedule(scheduler, schedules),
          on_node(scheduler, nodes),
          reconciler(scheduler, {deployments.cache(), scales.cache(), schedules.cache()}) {
        const rs::HandlerOptions options = mcs::options_of(mcs::kSchedulerService);
        deployments.add_handler(on_deployment, options, now);
        scales.add_handler(on_scale, options, now);
        schedules.add_handler(on_schedule, options, now);
        nodes.add_handler(on_node, options, now);
        manager.add(reconciler, {std::string{mcs::kSchedulerService}});
    }

    /// With the lease, and a core that knows nothing.
    void start() {
        lead(1);
        manager.start(now);
        while (!manager.is_running()) YK_CHECK(drive(manager, now), "the start goes on");
        join();
        settle();
    }
    void lead(std::uint64_t epoch) {
        lease = rs::Lease{epoch, true};
        manager.set_lease(mcs::kSchedulerService, lease, now);
    }
    /// Another instance leads from now on.
    void stand_down() {
        scheduler.stand_down();
        core.restart();
        manager.set_lease(mcs::kSchedulerService, std::nullopt, now);
    }
    /// This one again, with a core that knows nothing. What it has to do is not done yet.
    void take_over(std::uint64_t epoch) {
        lead(epoch);
        writes.lease_epoch = epoch;
        join();
    }
    /// The core registers the Scheduler.
    void join() { scheduler.registered(scheduler.has_placements(), now); }
    /// The core has ended, and there is a new one.
    void restart_core() {
        scheduler.lost("the core has ended");
        core.restart();
        join();
    }

    bool step() {
        if (drive(manager, now)) return true;
        if (const auto due = scheduler.next_due(now); due && *due <= now) scheduler.turn({*lease, now});
        if (carry_out()) return true;
        core.take(requests);
        core.schedule();
        if (core.notices.empty()) return false;
        const mcs::CoreNotice notice = core.notices.front();
        core.notices.pop_front();
        scheduler.handle(notice, now);
        return true;
    }
    /// Does what there is to do now.
    void settle() {
        manager.wake();
        for (int steps = 0; step(); ++steps) YK_CHECK(steps < 10'000'000, "it never comes to rest");
    }
    /// Lets time pass, and has done what becomes due meanwhile.
    void pass(Duration time) { let_pass(*this, time); }
    [[nodiscard]] std::optional<Instant> next_due() const {
        std::optional<Instant> due = manager.next_due(now);
        if (const auto other = scheduler.next_due(now)) due = due ? std::min(*due, *other) : *other;
        return due;
    }
    bool carry_out() {
        if (holds_writes) return false;
        auto call = queue.next();
        if (!call) return false;
        call->answer(writes.carry_out(call->request()));
        manager.enqueue(mcs::kind_of(call->request().command), mcs::id_of(call->request().command), now);
        call->finish(now);
        return true;
    }

    // --- what users and the Autoscaler do ---------------------------------------------------------
    void add_node(const std::string& id, std::int64_t vcore) {
        mcs::Node made;
        made.meta.id = id;
        made.capacity = {{"vcore", vcore}};
        node_rows.create(made);
    }
    void deploy(const std::string& id, std::int64_t replicas, const std::string& queue_name = "root.a") {
        mcs::Deployment made = deployment(id, 0, 1'000'000, replicas);
        made.queue = queue_name;
        made.user = "ann";
        made.resource = {{"vcore", 1}};
        deployment_rows.create(made);
        mcs::DeploymentScale size;
        size.meta.id = id;
        size.owner = {mcs::kDeploymentKind, id, deployment_rows.rows().find(id)->second.meta.uid};
        size.desired = replicas;
        scale_rows.create(size);
    }
    void scale(std::string_view id, std::int64_t replicas) {
        scale_rows.change(id, [&](mcs::DeploymentScale& row) { row.desired = replicas; });
    }
    /// The Deployment goes, and its children as its delete_mode says; the Autoscaler deletes the scale.
    void drop(std::string_view id) {
        const mcs::Deployment gone = deployment_rows.rows().find(id)->second;
        deployment_rows.drop(id);
        const bool releases = gone.delete_mode == mcs::DeleteMode::Orphan;
        if (scale_rows.rows().contains(id) && !releases) scale_rows.drop(id);
        const auto found = schedule_rows.rows().find(id);
        if (scale_rows.rows().contains(id))
            scale_rows.change(id, [](mcs::DeploymentScale& row) { row.owner.uid.clear(); });
        if (found == schedule_rows.rows().end() || found->second.owner.uid != gone.meta.uid) return;
        if (gone.delete_mode == mcs::DeleteMode::Cascade) schedule_rows.drop(id);
        if (releases) schedule_rows.change(id, [](mcs::DeploymentSchedule& row) { row.owner.uid.clear(); });
    }
    [[nodiscard]] const mcs::DeploymentSchedule* schedule(std::string_view id) {
        const auto found = schedule_rows.rows().find(id);
        return found == schedule_rows.rows().end() ? nullptr : &found->second;
    }
    [[nodiscard]] std::int64_t placed(std::string_view id) {
        const auto* const row = schedule(id);
        return row == nullptr ? -1 : row->placed;
    }
    [[nodiscard]] mcs::ScheduleState state(std::string_view id) { return schedule(id)->state; }
    /// Whether rows and core say the same; else what differs.
    [[nodiscard]] std::string difference() {
        std::map<std::string, FakeCore::Allocation> rows;
        for (const auto& [id, row] : schedule_rows.rows()) {
            const auto status = texts.status_of(row.status);
            for (const mcs::Placement& each : row.placements)
                if (!each.node_id.empty())
                    rows[each.allocation_key] = {
                        row.application_id, status.value().spec_of(each.attempt).resource.at("vcore"), each.node_id};
        }
        for (const auto& [key, each] : core.allocations)
            if (!each.node_id.empty() && !(rows[key] == each)) return key + " is on " + each.node_id + " in the core";
        for (const auto& [key, each] : rows)
            if (!core.allocations.contains(key)) return key + " is not in the core";
        return {};
    }

    Instant now{1'000'000'000'000};
    std::optional<rs::Lease> lease;
    MemoryDatabase database;
    MemoryStore<mcs::Deployment> deployment_rows{database};
    MemoryStore<mcs::DeploymentScale> scale_rows{database};
    MemoryStore<mcs::DeploymentSchedule> schedule_rows{database};
    MemoryStore<mcs::Node> node_rows{database};
    ScheduleWrites writes{database, deployment_rows, scale_rows, schedule_rows};
    bool holds_writes = false;
    FaultyChangeLog log;
    KeptNotices notices;
    KeptScheduleTexts texts;
    mcs::WriteQueue queue;
    mcs::CoreRequests requests;
    FakeCore core;
    rs::StateManager manager;
    rs::ResourceInformer<mcs::Deployment>& deployments;
    rs::ResourceInformer<mcs::DeploymentScale>& scales;
    rs::ResourceInformer<mcs::DeploymentSchedule>& schedules;
    rs::ResourceInformer<mcs::Node>& nodes;
    mcs::Scheduler scheduler;
    mcs::ScheduledDeploymentHandler on_deployment;
    mcs::ScheduledScaleHandler on_scale;
    mcs::ScheduleHandler on_schedule;
    mcs::NodeHandler on_node;
    mcs::SchedulerReconciler reconciler;
};

} // namespace yk::testing
