// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/periodic_reconciler.h"

namespace yk::rs {

Duration jittered(Duration period, unsigned permille, Chance& chance) {
    const Duration most = period / 1000 * static_cast<Duration::rep>(permille);
    return chance.between(period - most, period + most);
}

Result<RepairReport> PeriodicRuns::run(const PeriodicContext& context) {
    YK_ASSUME(context.now >= next_, "a run has its time");
    ++runs_;
    next_ = context.now + jittered(options_.period, options_.jitter_permille, chance_);
    YK_TRY(report, reconciler_.run_once(context));
    total_.found += report.found;
    total_.repaired += report.repaired;
    if (report.has_more) next_ = context.now;
    return report;
}

} // namespace yk::rs
