// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/metric_sources.h"

#include <cstddef>
#include <utility>

namespace yk::mcs {
namespace {

[[nodiscard]] std::string not_pushed(const Deployment& deployment, const MetricTarget& metric) {
    const auto age = std::chrono::duration_cast<seconds>(metric.max_age).count();
    return "no value was given in the last " + std::to_string(age) + " s; ykctl deployment metric " + deployment.name +
           " " + metric.name + "=VALUE gives one";
}

[[nodiscard]] Result<MetricReading> read_metric(const MetricBoard& board, MetricSources* sources,
                                                const MetricQuestion& question, const PlacedHistory& placed,
                                                Instant now) {
    const MetricTarget& metric = question.metric;
    if (metric.source == MetricSource::Push) {
        const auto reading = board.read(question.deployment.meta.uid, metric, now);
        if (reading) return *reading;
        return Error::at({}, not_pushed(question.deployment, metric));
    }
    if (sources == nullptr) return Error::at({}, "this program asks nobody for it; use a metric that is pushed");
    auto reading = sources->read(question, now);
    if (reading.ok() && !placed.reaches(reading->at)) // how many were placed then only another instance has seen
        return Error::at({}, "it was measured before this instance began to decide; the next value counts");
    return reading;
}

} // namespace

MetricReadings read_metrics(const MetricBoard& board, MetricSources* sources, const Deployment& deployment,
                            const DeploymentSchedule* schedule, const ScalingPolicy& policy,
                            const PlacedHistory& placed, Instant now) {
    MetricReadings all;
    std::size_t others = 0;
    for (const MetricTarget& metric : policy.metrics) {
        auto reading = read_metric(board, sources, {deployment, schedule, metric}, placed, now);
        if (reading.ok()) reading->placed = placed.since(reading->at);
        if (reading.ok())
            all.values.emplace_back(*reading);
        else
            all.values.emplace_back(std::nullopt);
        if (reading.ok()) continue;
        if (all.fault.empty())
            all.fault = "metric " + metric.name + ": " + reading.error().message;
        else
            ++others;
    }
    if (others > 0) all.fault += "; and " + std::to_string(others) + " more could not be read";
    return all;
}

} // namespace yk::mcs
