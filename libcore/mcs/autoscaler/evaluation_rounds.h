// SPDX-License-Identifier: Apache-2.0
#pragma once
// EvaluationRounds: looks at each Deployment once in a period, since metrics, windows and the hours of the week change
// without an event. The Deployments are spread evenly over the period, so that there is no moment with the work of all
// of them (rs R-111).
//
// Owner: the program, which adds it to the StateManager with evaluation_options(). Thread: that of the caches.
// Cost of a run: a decision for each Deployment that is due, which is some of the cache in the order it lies there.

#include <string>
#include <string_view>

#include "libcore/base/check.h"
#include "libcore/mcs/autoscaler/autoscaler.h"
#include "libcore/resource_state/periodic_reconciler.h"

namespace yk::mcs {

class EvaluationRounds final : public rs::PeriodicReconciler {
public:
    /// `period`: between two looks at the same Deployment. REQUIRES: it is above 0; both others outlive this.
    EvaluationRounds(Autoscaler& autoscaler, const rs::ResourceCache<Deployment>& deployments,
                     Duration period = seconds{15})
        : autoscaler_(autoscaler), deployments_(deployments), period_(period) {
        YK_CHECK(period > Duration{}, "a round takes time");
    }

    [[nodiscard]] std::string_view name() const override { return "autoscaler-evaluation"; }
    /// What was found are Deployments whose scale has to change; repaired are those whose write was begun.
    [[nodiscard]] Result<rs::RepairReport> run_once(const rs::PeriodicContext& context) override;

private:
    [[nodiscard]] std::size_t due(Instant now);

    Autoscaler& autoscaler_;
    const rs::ResourceCache<Deployment>& deployments_;
    const Duration period_;
    rs::ResourceCache<Deployment>::Slot next_ = 0;
    std::optional<Instant> last_run_;
    Duration earned_{}; // time for each Deployment that no evaluation was made for yet
};

/// How often a run is: fifteen times in the default period.
[[nodiscard]] inline rs::PeriodicOptions evaluation_options() {
    return {std::string{kAutoscalerService}, seconds{1}, 0};
}

} // namespace yk::mcs
