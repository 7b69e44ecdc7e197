// SPDX-License-Identifier: Apache-2.0
#pragma once
// An Autoscaler with its handlers, a database in memory, a log that a test may spoil, and a clock that it moves.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/mcs/autoscaler/autoscaler_handlers.h"
#include "libcore/mcs/autoscaler/autoscaler_reconciler.h"
#include "libcore/mcs/autoscaler/evaluation_rounds.h"
#include "libcore/resource_state/state_manager.h"
#include "tests/support/mcs/deployments.h"
#include "tests/support/mcs/kept_texts.h"
#include "tests/support/mcs/memory_writes.h"
#include "tests/support/resource_state/faulty_log.h"
#include "tests/support/resource_state/world.h"

namespace yk::testing {

/// Full reads happen only when they are asked for.
inline rs::Settings without_resync() {
    rs::Settings settings;
    settings.resync.period = {};
    return settings;
}

/// Values of metrics by name; of those that are not here there is none, for a reason.
struct KeptSources final : mcs::MetricSources {
    [[nodiscard]] Result<mcs::MetricReading> read(const mcs::MetricQuestion& question, Instant now) override {
        ++asked;
        const auto found = values.find(question.metric.name);
        if (found == values.end()) return Error::of(why);
        return mcs::MetricReading{found->second, {}, now - age};
    }
    Duration age{};                             // of the values
    std::map<std::string, std::int64_t> values; // thousandths
    std::string why = "it answered 503";
    int asked = 0;
};

struct AutoscalerWorld {
    explicit AutoscalerWorld(const rs::Settings& settings = {}, std::uint64_t seed = 1, bool has_handlers = true)
        : log(database, true, seed),
          manager(log, notices, settings, seed),
          deployments(manager.add(deployment_rows)),
          scales(manager.add(scale_rows)),
          schedules(manager.add(schedule_rows)),
          autoscaler(ports()),
          on_deployment(autoscaler, deployments),
          on_scale(autoscaler, scales),
          rounds(autoscaler, deployments.cache()),
          reconciler(autoscaler, deployments.cache(), scales.cache()) {
        if (!has_handlers) return;
        deployments.add_handler(on_deployment, mcs::options_of(mcs::kAutoscalerService), now);
        scales.add_handler(on_scale, mcs::options_of(mcs::kAutoscalerService), now);
    }

    [[nodiscard]] mcs::AutoscalerPorts ports() {
        return {deployments.cache(),
                scales.cache(),
                schedules.cache(),
                metrics,
                texts,
                queue,
                [this](std::string_view id, Instant at) { manager.enqueue(mcs::kScaleKind, id, at); },
                &sources};
    }
    /// As a program does: what only time brings up is looked at, too. Before the start.
    void add_periodic() {
        manager.add(rounds, mcs::evaluation_options());
        manager.add(reconciler, mcs::reconciler_options());
    }
    void start() {
        lead(1);
        manager.start(now);
        settle();
    }
    /// This process has the lease of the Autoscaler.
    void lead(std::uint64_t epoch) { manager.set_lease(mcs::kAutoscalerService, rs::Lease{epoch, true}, now); }

    /// Does what there is to do now, writes too unless they are held back.
    void settle() {
        manager.wake();
        for (int steps = 0; drive(manager, now) || carry_out(); ++steps)
            YK_CHECK(steps < 1'000'000, "it never comes to rest");
    }
    /// Lets time pass, and has done what becomes due meanwhile.
    void pass(Duration time) { let_pass(*this, time); }
    [[nodiscard]] std::optional<Instant> next_due() const { return manager.next_due(now); }
    /// Carries out one write; false: there is none, or they are held back.
    bool carry_out() {
        if (holds_writes) return false;
        auto call = queue.next();
        if (!call) return false;
        call->answer(writes.carry_out(call->request()));
        call->finish(now);
        return true;
    }

    [[nodiscard]] const mcs::DeploymentScale* scale(std::string_view id) {
        const auto found = scale_rows.rows().find(id);
        return found == scale_rows.rows().end() ? nullptr : &found->second;
    }
    [[nodiscard]] std::int64_t desired(std::string_view id) {
        const mcs::DeploymentScale* const row = scale(id);
        return row == nullptr ? -1 : row->desired;
    }
    [[nodiscard]] mcs::ScaleStatus status(std::string_view id) {
        return texts.status_of(scale(id)->status, now).value();
    }
    void change(std::string_view id, const std::function<void(mcs::Deployment&)>& how) {
        deployment_rows.change(id, how);
    }
    /// The Deployment goes, and its scale as its delete_mode says.
    void drop(std::string_view id) {
        const mcs::Deployment gone = deployment_rows.rows().find(id)->second;
        deployment_rows.drop(id);
        const mcs::DeploymentScale* const row = scale(id);
        if (row == nullptr || row->owner.uid != gone.meta.uid) return;
        if (gone.delete_mode == mcs::DeleteMode::Cascade) scale_rows.drop(id);
        if (gone.delete_mode == mcs::DeleteMode::Orphan)
            scale_rows.change(id, [](mcs::DeploymentScale& each) { each.owner.uid.clear(); });
    }
    /// The metric `load` of the Deployment has this sum, in replicas.
    void load(std::string_view id, std::int64_t replicas) {
        const mcs::Deployment& row = deployment_rows.rows().find(id)->second;
        const auto policy = texts.policy_of(*row.policy);
        const auto pushed = metrics.push(row.meta.uid, policy.value(), mcs::bounds_of(row),
                                         {"load", std::nullopt, replicas * 1000}, now);
        YK_CHECK(pushed.ok(), "the deployment has the metric");
    }
    std::vector<std::string> take_writes() { return std::exchange(writes.log, {}); }

    Instant now{1'000'000'000'000};
    MemoryDatabase database;
    MemoryStore<mcs::Deployment> deployment_rows{database};
    MemoryStore<mcs::DeploymentScale> scale_rows{database};
    MemoryStore<mcs::DeploymentSchedule> schedule_rows{database};
    MemoryWrites writes{database, deployment_rows, scale_rows};
    bool holds_writes = false;
    FaultyChangeLog log;
    KeptNotices notices;
    KeptTexts texts;
    mcs::MetricBoard metrics;
    KeptSources sources;
    mcs::WriteQueue queue;
    rs::StateManager manager;
    rs::ResourceInformer<mcs::Deployment>& deployments;
    rs::ResourceInformer<mcs::DeploymentScale>& scales;
    rs::ResourceInformer<mcs::DeploymentSchedule>& schedules;
    mcs::Autoscaler autoscaler;
    mcs::DeploymentHandler on_deployment;
    mcs::DeploymentScaleHandler on_scale;
    mcs::EvaluationRounds rounds;
    mcs::AutoscalerReconciler reconciler;
};

} // namespace yk::testing
