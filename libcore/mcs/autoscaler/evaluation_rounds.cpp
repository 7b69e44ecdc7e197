// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/evaluation_rounds.h"

#include <algorithm>

namespace yk::mcs {

/// How many Deployments have their turn: as much of all as the time since the last run is of the period, at most all.
/// In the first run it is none: the handlers have just been called for everything.
std::size_t EvaluationRounds::due(Instant now) {
    const Duration passed = last_run_ ? std::min(now - *last_run_, period_) : Duration{};
    last_run_ = now;
    const auto all = static_cast<std::int64_t>(deployments_.size());
    earned_ += passed * all;
    const std::int64_t count = std::min(all, earned_ / period_);
    earned_ = std::min(earned_ - period_ * count, period_);
    return static_cast<std::size_t>(count);
}

Result<rs::RepairReport> EvaluationRounds::run_once(const rs::PeriodicContext& context) {
    rs::RepairReport report;
    const auto look = [&](const rs::Ptr<Deployment>& deployment) {
        const auto result = autoscaler_.update(deployment->meta.id, {context.lease, context.now}, nullptr);
        if (result.what() != rs::HandlerResult::What::Later) return;
        ++report.found;
        ++report.repaired;
    };
    for (std::size_t left = due(context.now); left > 0;) {
        next_ = deployments_.for_each_from(next_, left, [&](const rs::Ptr<Deployment>& deployment) {
            --left;
            look(deployment);
        });
        if (next_ >= deployments_.end()) next_ = 0;
    }
    return report;
}

} // namespace yk::mcs
