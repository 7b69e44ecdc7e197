// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/metric_board.h"

#include <algorithm>
#include <utility>

#include "libcore/base/saturate.h"

namespace yk::mcs {
namespace {

[[nodiscard]] const MetricTarget* find(const ScalingPolicy& policy, std::string_view name) {
    const auto found = std::find_if(policy.metrics.begin(), policy.metrics.end(),
                                    [&](const MetricTarget& each) { return each.name == name; });
    return found == policy.metrics.end() ? nullptr : &*found;
}

[[nodiscard]] Result<void> check(const MetricTarget* metric, const ReplicaBounds& bounds, const MetricSample& sample) {
    if (metric == nullptr)
        return Error::at("name", "'" + std::string{sample.name} + "' is no metric of the Deployment's policy");
    if (metric->source != MetricSource::Push)
        return Error::at("name", "'" + std::string{sample.name} + "' is not pushed: its source says its value");
    if (sample.value < 0) return Error::at("value", "must not be below 0");
    if (!sample.replica) return {};
    if (metric->type != MetricType::Average)
        return Error::at("replica", "a metric of type value has one value of the whole; leave the replica out");
    if (*sample.replica < 0 || *sample.replica >= bounds.max)
        return Error::at("replica",
                         "must be at least 0 and below the Deployment's max of " + std::to_string(bounds.max));
    return {};
}

} // namespace

Result<void> MetricBoard::push(std::string_view uid, const ScalingPolicy& policy, const ReplicaBounds& bounds,
                               const MetricSample& sample, Instant now) {
    const MetricTarget* const metric = find(policy, sample.name);
    YK_CHECKED(check(metric, bounds, sample));
    Metrics& metrics = deployments_.try_emplace(std::string{uid}).first->second;
    Values& values = metrics.try_emplace(std::string{sample.name}).first->second;
    if (!sample.replica) {
        values = {Value{sample.value, now}, {}};
        return {};
    }
    values.whole.reset();
    values.replicas.insert_or_assign(*sample.replica, Value{sample.value, now});
    return {};
}

std::optional<MetricReading> MetricBoard::read(std::string_view uid, const MetricTarget& metric, Instant now) const {
    const auto deployment = deployments_.find(uid);
    if (deployment == deployments_.end()) return std::nullopt;
    const auto found = deployment->second.find(metric.name);
    if (found == deployment->second.end()) return std::nullopt;
    const auto is_fresh = [&](const Value& value) { return now - value.at <= metric.max_age; };
    const Values& values = found->second;
    if (values.whole && !is_fresh(*values.whole)) return std::nullopt;
    if (values.whole) return MetricReading{values.whole->value, {}, values.whole->at};
    if (metric.type == MetricType::Value) return std::nullopt; // they were given while it was of another type
    MetricReading reading{0, 0};
    for (const auto& [replica, value] : values.replicas) {
        if (!is_fresh(value)) continue;
        reading.sum = sat_add(reading.sum, value.value);
        ++*reading.replicas;
    }
    return *reading.replicas == 0 ? std::nullopt : std::optional{reading};
}

void MetricBoard::keep_only(std::string_view uid, const ScalingPolicy* policy) {
    const auto deployment = deployments_.find(uid);
    if (deployment == deployments_.end()) return;
    if (policy != nullptr)
        std::erase_if(deployment->second, [&](const auto& each) { return find(*policy, each.first) == nullptr; });
    if (policy == nullptr || deployment->second.empty()) deployments_.erase(deployment);
}

} // namespace yk::mcs
