// SPDX-License-Identifier: Apache-2.0
#pragma once
// SchedulerReconciler: looks now and then for what no event brings up again, and repairs it (rs R-104): schedules whose
// Deployment or scale has gone, scales without a schedule, schedules that are behind their scale, rows whose counters
// are wrong, schedules that are known here and have no row, and what the core has otherwise than it is known here:
// nodes and applications, which it lists once in a pass. It reads caches only; a row is deleted by a write that looks
// in the database whether its parents are there.
//
// What may be on its way is a finding only when the pass before has seen it, too.
//
// Owner: the program, which adds it to the StateManager. Thread: that of the caches. Cost: a pass is O(schedules +
// scales + nodes), that of the first two in runs of some thousand entries.

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "libcore/mcs/cache_pass.h"
#include "libcore/mcs/scheduler/scheduler.h"
#include "libcore/resource_state/periodic_reconciler.h"

namespace yk::mcs {

enum class ScheduleFinding : std::uint8_t {
    Orphan,     // no Deployment, or no scale, of its owner's uid; not one that was released
    Missing,    // a scale without a schedule
    Behind,     // another number is desired than that of the scale
    Miscounted, // the counters of the row are not those of its placements
    Forgotten,  // known here, without a row
    Node,       // another one in the core than its row says
    Removed,    // its application is not in the core
    Unknown     // an application in the core that no schedule has
};
inline constexpr std::size_t kScheduleFindings = 8;
[[nodiscard]] std::string_view name_of(ScheduleFinding finding);

class SchedulerReconciler final : public rs::PeriodicReconciler {
public:
    /// All must outlive this, and this the writes that are under way.
    struct Caches {
        const rs::ResourceCache<Deployment>& deployments;
        const rs::ResourceCache<DeploymentScale>& scales;
        const rs::ResourceCache<DeploymentSchedule>& schedules;
    };
    SchedulerReconciler(Scheduler& scheduler, const Caches& caches, PassLimits limits = {})
        : scheduler_(scheduler), caches_(caches), limits_(limits) {}

    [[nodiscard]] std::string_view name() const override { return "scheduler-reconciler"; }
    /// Goes on where the last run stopped. Repaired are those whose write was begun.
    [[nodiscard]] Result<rs::RepairReport> run_once(const rs::PeriodicContext& context) override;

    [[nodiscard]] const FindingCounters& counters(ScheduleFinding finding) const {
        return counters_[static_cast<std::size_t>(finding)];
    }

private:
    struct Run;
    enum class Part : std::uint8_t { Schedules, Scales, Applications };

    void look_at(const DeploymentSchedule& row, Run& run);
    void look_at(const DeploymentScale& scale, Run& run);
    void look_at_known(Run& run);
    void look_at_nodes(Run& run);
    [[nodiscard]] bool look_at_applications(Run& run);
    void count_repaired(ScheduleFinding finding, std::size_t count, Run& run);
    [[nodiscard]] bool is_seen_again(std::string_view id);
    template <class Repair>
    void repair(ScheduleFinding finding, std::string_view id, Run& run, Repair&& how);

    Scheduler& scheduler_;
    const Caches caches_;
    const PassLimits limits_;
    Part part_ = Part::Schedules;                        // where the pass is
    std::uint32_t next_ = 0;                             // where the pass is in the cache of that
    std::set<std::string, std::less<>> suspects_, seen_; // ids: of the pass before, and of this one
    std::array<FindingCounters, kScheduleFindings> counters_{};
};

} // namespace yk::mcs
