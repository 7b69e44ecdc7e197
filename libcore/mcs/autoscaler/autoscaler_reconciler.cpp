// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/autoscaler_reconciler.h"

#include "libcore/base/check.h"

namespace yk::mcs {
namespace {

constexpr Duration kMissingAfter = seconds{5}; // events and handlers have had their chance
constexpr Duration kBehindAfter = seconds{30};

[[nodiscard]] bool is_out_of_range(const DeploymentScale& scale, const Deployment& deployment) {
    const ReplicaBounds bounds = bounds_of(deployment);
    if (deployment.is_paused || (deployment.replicas == 0 && scale.desired == 0)) return false;
    return scale.desired < bounds.min || scale.desired > bounds.max;
}

} // namespace

/// What is left to one run.
struct AutoscalerReconciler::Run {
    const rs::PeriodicContext& context;
    rs::RepairReport report;
    PassLimits left;
};

Result<rs::RepairReport> AutoscalerReconciler::run_once(const rs::PeriodicContext& context) {
    Run run{context, {}, limits_};
    skips_orphans_ = !context.may_conclude;
    const auto look = [&](const auto& row) { look_at(row, run); };
    if (!is_at_deployments_) is_at_deployments_ = look_through(scales_, next_, run.left, look);
    if (is_at_deployments_ && look_through(deployments_, next_, run.left, look)) {
        is_at_deployments_ = false;
        if (context.may_conclude) autoscaler_.forget_gone();
    } else {
        run.report.has_more = true;
    }
    return run.report;
}

void AutoscalerReconciler::look_at(const DeploymentScale& scale, Run& run) {
    if (scale.owner.uid.empty()) return; // released on purpose
    const rs::Ptr<Deployment> owner = deployments_.get(scale.owner.id);
    if (!owner || owner->meta.uid != scale.owner.uid) {
        if (run.context.may_conclude) repair(Finding::Orphan, scale.meta.id, &scale, run);
        return;
    }
    if (is_out_of_range(scale, *owner)) return repair(Finding::OutOfRange, scale.meta.id, nullptr, run);
    if (scale.observed_generation >= owner->meta.generation) return;
    const Instant now = run.context.now;
    if (now - autoscaler_.behind_since(*owner, now) < kBehindAfter) return;
    repair(Finding::Behind, scale.meta.id, nullptr, run);
}

void AutoscalerReconciler::look_at(const Deployment& deployment, Run& run) {
    const rs::Ptr<DeploymentScale> scale = scales_.get(deployment.meta.id);
    if (scale && scale->owner.uid == deployment.meta.uid) return;
    const Instant now = run.context.now;
    if (now - autoscaler_.known_since(deployment, now) < kMissingAfter) return;
    repair(Finding::Missing, deployment.meta.id, nullptr, run);
}

/// The same code as for an event. What is being written already is no finding.
void AutoscalerReconciler::repair(Finding finding, const std::string& id, const DeploymentScale* orphan, Run& run) {
    if (autoscaler_.is_writing(id)) return;
    FindingCounters& counters = counters_[static_cast<std::size_t>(finding)];
    const Autoscaler::Turn turn{run.context.lease, run.context.now};
    const auto done = [&counters](const WriteOutcome& outcome, const rs::HandlerResult&, Instant) {
        if (std::holds_alternative<Written>(outcome)) ++counters.repaired;
    };
    const auto result =
        orphan == nullptr ? autoscaler_.update(id, turn, done) : autoscaler_.remove_orphan(*orphan, turn, done);
    if (result.what() == rs::HandlerResult::What::Ok) return; // the cache does not show yet that it was repaired
    --run.left.findings;
    ++run.report.found;
    ++counters.found;
    if (result.what() == rs::HandlerResult::What::Later) ++run.report.repaired;
}

std::string_view name_of(Finding finding) {
    switch (finding) {
    case Finding::Orphan: return "orphan";
    case Finding::Missing: return "missing";
    case Finding::OutOfRange: return "out-of-range";
    case Finding::Behind: return "behind";
    }
    YK_UNREACHABLE("a finding without a name");
}

} // namespace yk::mcs
