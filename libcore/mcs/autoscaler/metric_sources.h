// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricSources: the port to values of metrics that nobody pushes, and what a decision takes from there and from the
// board of those that are pushed (rs R-112).

#include <optional>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_schedule.h"
#include "libcore/mcs/scaling/metric_board.h"

namespace yk::mcs {

/// A metric of the policy of a Deployment.
struct MetricQuestion {
    const Deployment& deployment;
    const DeploymentSchedule* schedule = nullptr; // of the Deployment; nullptr: the Scheduler has not seen it yet
    const MetricTarget& metric;
};

/// Owner: the program. Thread: that of the Autoscaler; no call waits.
class MetricSources {
public:
    virtual ~MetricSources() = default;
    /// The value that is known now. Whoever asks is taken to ask again: the source sees to it that there is a value by
    /// then. The message of an error says why there is none, and the way out, in one line. It is kept with the scale,
    /// so it has nothing that differs from one time to the next. REQUIRES: the metric is not of MetricSource::Push.
    [[nodiscard]] virtual Result<MetricReading> read(const MetricQuestion& question, Instant now) = 0;
};

/// The readings of all metrics of a policy.
struct MetricReadings {
    std::vector<std::optional<MetricReading>> values; // nullopt: it could not be read
    std::string fault;                                // why, of the first of these; empty: all were read
};

/// `sources`: nullptr: of other metrics than those that are pushed there is no value. `placed`: so far as this process
/// has seen. A value that is older than that says nothing here, since nobody knows of how many replicas it is; what was
/// pushed was pushed to this process.
[[nodiscard]] MetricReadings read_metrics(const MetricBoard& board, MetricSources* sources,
                                          const Deployment& deployment, const DeploymentSchedule* schedule,
                                          const ScalingPolicy& policy, const PlacedHistory& placed, Instant now);

} // namespace yk::mcs
