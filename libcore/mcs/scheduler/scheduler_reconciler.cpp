// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/scheduler_reconciler.h"

#include <utility>
#include <vector>

#include "libcore/base/check.h"

namespace yk::mcs {

/// What is left to one run.
struct SchedulerReconciler::Run {
    const rs::PeriodicContext& context;
    rs::RepairReport report;
    PassLimits left;

    [[nodiscard]] Scheduler::Turn turn() const { return {context.lease, context.now}; }
};

Result<rs::RepairReport> SchedulerReconciler::run_once(const rs::PeriodicContext& context) {
    Run run{context, {}, limits_};
    const auto look = [&](const auto& row) { look_at(row, run); };
    if (part_ == Part::Schedules && look_through(caches_.schedules, next_, run.left, look)) part_ = Part::Scales;
    if (part_ == Part::Scales && look_through(caches_.scales, next_, run.left, look)) {
        look_at_known(run);
        look_at_nodes(run);
        part_ = Part::Applications;
    }
    run.report.has_more = part_ != Part::Applications || !look_at_applications(run);
    if (run.report.has_more) return run.report;
    part_ = Part::Schedules;
    suspects_ = std::exchange(seen_, {});
    return run.report;
}

void SchedulerReconciler::look_at(const DeploymentSchedule& row, Run& run) {
    const std::string& id = row.meta.id;
    const ReplicaCounts counts = counts_of(row.placements);
    if ((row.placed != counts.placed || row.pending != counts.pending) && is_seen_again(id))
        return repair(ScheduleFinding::Miscounted, id, run,
                      [&](auto done) { return scheduler_.rows().recount(id, run.turn(), done); });
    if (row.owner.uid.empty()) return; // released on purpose
    const rs::Ptr<Deployment> owner = caches_.deployments.get(row.owner.id);
    const rs::Ptr<DeploymentScale> scale = caches_.scales.get(row.owner.id);
    const bool has_owner = owner && owner->meta.uid == row.owner.uid;
    const bool has_scale = scale && scale->owner.uid == row.owner.uid;
    if (!has_owner || (!has_scale && is_seen_again(id))) {
        if (!run.context.may_conclude) return;
        return repair(ScheduleFinding::Orphan, id, run,
                      [&](auto done) { return scheduler_.rows().remove_orphan(row, run.turn(), done); });
    }
    if (!has_scale || scale->desired == row.desired || !is_seen_again(id)) return;
    repair(ScheduleFinding::Behind, id, run, [&](auto done) { return scheduler_.rows().update(id, run.turn(), done); });
}

void SchedulerReconciler::look_at(const DeploymentScale& scale, Run& run) {
    const std::string& id = scale.meta.id;
    const rs::Ptr<Deployment> owner = caches_.deployments.get(id);
    if (!owner || owner->meta.uid != scale.owner.uid) return;
    const rs::Ptr<DeploymentSchedule> row = caches_.schedules.get(id);
    if ((row && row->owner.uid == scale.owner.uid) || !is_seen_again(id)) return;
    repair(ScheduleFinding::Missing, id, run,
           [&](auto done) { return scheduler_.rows().update(id, run.turn(), done); });
}

void SchedulerReconciler::look_at_known(Run& run) {
    if (!run.context.may_conclude) return;
    std::vector<rs::ResourceMeta> forgotten;
    scheduler_.table().for_each([&](const ScheduleMemory& memory) {
        const rs::Ptr<DeploymentSchedule> row = caches_.schedules.get(memory.row.meta.id);
        if ((!row || row->meta.uid != memory.row.meta.uid) && !scheduler_.rows().is_writing(memory.row.meta.id) &&
            is_seen_again(memory.row.meta.id))
            forgotten.push_back(memory.row.meta);
    });
    for (const rs::ResourceMeta& last : forgotten)
        repair(ScheduleFinding::Forgotten, last.id, run,
               [&](auto done) { return scheduler_.rows().row_deleted(last, run.turn(), done); });
}

/// One that the core has refused is tried again in each pass.
void SchedulerReconciler::look_at_nodes(Run& run) {
    count_repaired(ScheduleFinding::Node, scheduler_.check_nodes(), run);
}

/// Each pass looks at the list that the one before has asked for. True: at all of it.
bool SchedulerReconciler::look_at_applications(Run& run) {
    CoreSide& core = scheduler_.core_side();
    for (; run.left.findings > 0; --run.left.findings) {
        const auto mended = core.mend_application(run.context.now);
        if (!mended) {
            core.list_applications();
            return true;
        }
        count_repaired(*mended == CoreSide::Mended::Removed ? ScheduleFinding::Removed : ScheduleFinding::Unknown, 1,
                       run);
    }
    return false;
}

void SchedulerReconciler::count_repaired(ScheduleFinding finding, std::size_t count, Run& run) {
    FindingCounters& counters = counters_[static_cast<std::size_t>(finding)];
    counters.found += count;
    counters.repaired += count;
    run.report.found += count;
    run.report.repaired += count;
}

bool SchedulerReconciler::is_seen_again(std::string_view id) {
    seen_.emplace(id);
    return suspects_.contains(id);
}

/// The same code as for an event. What is being written already is no finding.
template <class Repair>
void SchedulerReconciler::repair(ScheduleFinding finding, std::string_view id, Run& run, Repair&& how) {
    if (scheduler_.rows().is_writing(id)) return;
    FindingCounters& counters = counters_[static_cast<std::size_t>(finding)];
    const auto result = how([&counters](const rs::HandlerResult& outcome, Instant /*now*/) {
        if (outcome.what() == rs::HandlerResult::What::Ok) ++counters.repaired;
    });
    const bool is_done = finding == ScheduleFinding::Forgotten && result.what() == rs::HandlerResult::What::Ok;
    if (result.what() == rs::HandlerResult::What::Ok && !is_done) return; // it was repaired meanwhile
    if (run.left.findings > 0) --run.left.findings;
    ++run.report.found;
    ++counters.found;
    if (is_done) ++counters.repaired;
    if (is_done || result.what() == rs::HandlerResult::What::Later) ++run.report.repaired;
}

std::string_view name_of(ScheduleFinding finding) {
    switch (finding) {
    case ScheduleFinding::Orphan: return "orphan";
    case ScheduleFinding::Missing: return "missing";
    case ScheduleFinding::Behind: return "behind";
    case ScheduleFinding::Miscounted: return "miscounted";
    case ScheduleFinding::Forgotten: return "forgotten";
    case ScheduleFinding::Node: return "node";
    case ScheduleFinding::Removed: return "removed";
    case ScheduleFinding::Unknown: return "unknown";
    }
    YK_UNREACHABLE("a finding without a name");
}

} // namespace yk::mcs
