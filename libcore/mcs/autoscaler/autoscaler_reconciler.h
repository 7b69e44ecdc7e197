// SPDX-License-Identifier: Apache-2.0
#pragma once
// AutoscalerReconciler: looks now and then for what no event brings up again, and repairs it (rs R-101): scales whose
// Deployment has gone, Deployments without a scale, numbers out of their bounds, scales of an older generation. It
// reads caches only; a scale is deleted by a write that looks in the database whether its Deployment is there (rs
// R-103), and not at all while the caches do not follow the database (rs R-102).
//
// Owner: the program, which adds it to the StateManager with reconciler_options(). Thread: that of the caches.
// Cost: a pass is O(scales + Deployments), in runs of some thousand entries; what is found first is repaired first, in
// the order of the caches, in which old rows lie before new ones unless there were deletions.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/mcs/autoscaler/autoscaler.h"
#include "libcore/mcs/cache_pass.h"
#include "libcore/resource_state/periodic_reconciler.h"

namespace yk::mcs {

enum class Finding : std::uint8_t {
    Orphan,     // its owner is not there, or has another uid; not one that was released
    Missing,    // a Deployment that is known for 5 s has no scale
    OutOfRange, // the number is outside the bounds; not of a paused Deployment, nor a given 0 (rs R-116)
    Behind      // the scale is of an older generation, for 30 s
};
inline constexpr std::size_t kFindings = 4;
[[nodiscard]] std::string_view name_of(Finding finding);

class AutoscalerReconciler final : public rs::PeriodicReconciler {
public:
    using Limits = PassLimits;

    /// All must outlive this, and this the writes that are under way.
    AutoscalerReconciler(Autoscaler& autoscaler, const rs::ResourceCache<Deployment>& deployments,
                         const rs::ResourceCache<DeploymentScale>& scales, Limits limits)
        : autoscaler_(autoscaler), deployments_(deployments), scales_(scales), limits_(limits) {}
    AutoscalerReconciler(Autoscaler& autoscaler, const rs::ResourceCache<Deployment>& deployments,
                         const rs::ResourceCache<DeploymentScale>& scales)
        : AutoscalerReconciler(autoscaler, deployments, scales, Limits{}) {}

    [[nodiscard]] std::string_view name() const override { return "autoscaler-reconciler"; }
    /// Goes on where the last run stopped. Repaired are those whose write was begun.
    [[nodiscard]] Result<rs::RepairReport> run_once(const rs::PeriodicContext& context) override;

    [[nodiscard]] const FindingCounters& counters(Finding finding) const {
        return counters_[static_cast<std::size_t>(finding)];
    }
    /// Whether the last run left orphans alone, since the caches do not follow the database.
    [[nodiscard]] bool skips_orphans() const { return skips_orphans_; }

private:
    struct Run;

    void look_at(const DeploymentScale& scale, Run& run);
    void look_at(const Deployment& deployment, Run& run);
    void repair(Finding finding, const std::string& id, const DeploymentScale* orphan, Run& run);

    Autoscaler& autoscaler_;
    const rs::ResourceCache<Deployment>& deployments_;
    const rs::ResourceCache<DeploymentScale>& scales_;
    const Limits limits_;
    std::uint32_t next_ = 0;         // where the pass is in its cache
    bool is_at_deployments_ = false; // the scales were looked through
    bool skips_orphans_ = false;
    std::array<FindingCounters, kFindings> counters_{};
};

[[nodiscard]] inline rs::PeriodicOptions reconciler_options() {
    return {std::string{kAutoscalerService}};
}

} // namespace yk::mcs
