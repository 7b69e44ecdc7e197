// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deployments and policies for tests.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "libcore/mcs/deployment.h"
#include "libcore/mcs/scaling/scaling_policy.h"

namespace yk::testing {

inline mcs::Deployment deployment(std::string id, std::int64_t least, std::int64_t most,
                                  std::optional<std::int64_t> replicas = {}) {
    mcs::Deployment made;
    made.meta.id = made.name = std::move(id);
    made.min_replicas = least;
    made.max_replicas = most;
    made.replicas = replicas;
    return made;
}

/// A policy of one metric of type average, `load`, whose target is 1 for each replica; without windows and rates.
inline mcs::ScalingPolicy load_policy() {
    mcs::ScalingPolicy policy;
    policy.metrics.push_back({});
    policy.metrics[0].name = "load";
    policy.metrics[0].type = mcs::MetricType::Average;
    policy.metrics[0].target = 1000;
    policy.up = policy.down = {};
    return policy;
}

} // namespace yk::testing
