// SPDX-License-Identifier: Apache-2.0
#pragma once
// decide(): the row that a Deployment's scale should be, and whether that is worth a write. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "libcore/mcs/autoscaler/scale_status.h"
#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_scale.h"

namespace yk::mcs {

/// The last row of a scale that is known, with its status as values.
struct KnownScale {
    rs::Ptr<DeploymentScale> row;
    ScaleStatus status;          // of the row, and what was recommended since
    RecommendationRange written; // of the history that the row has
    bool is_foreign = false;     // somebody else wrote over it: `row` is as it was, with the version of what is there
};

struct DecisionInput {
    const Deployment& deployment;
    const ScalingPolicy& policy;
    bool is_policy_broken = false;                            // and `policy` is the default
    const KnownScale* last = nullptr;                         // nullptr: there never was one
    bool is_there = false;                                    // `last` is in the database
    Instant last_write{};                                     // of this scale by this process
    std::int64_t placed = 0;                                  // replicas
    std::span<const std::optional<MetricReading>> readings{}; // of the policy's metrics
    std::string_view fault{};                                 // why some could not be read
    Instant now{};                                            // of a clock that never goes back
    Instant wall{};                                           // of the calendar
};

struct ScaleDecision {
    DeploymentScale row;  // without its status
    ScaleStatus status;   // once `row` is written; its history has the change of the number
    ScaleHistory history; // also if it is not written
    bool is_needed = false;
    Decision decision{};   // what decided the number
    std::int64_t before{}; // the number so far
};

/// The row is worth a write if it is missing, or if number, reason, generation or a condition are other ones. A history
/// that alone has changed is written once a minute at most, so that many steady Deployments cost the database little
/// (rs R-120); what a condition says for people alone, every 15 s. What somebody else wrote over it is always worth a
/// write (rs R-108). The reason says why the number changed last, and stays until it changes again.
[[nodiscard]] ScaleDecision decide(const DecisionInput& input);

/// The bounds of a Deployment; such as make no sense become the nearest that do.
[[nodiscard]] ReplicaBounds bounds_of(const Deployment& deployment);

} // namespace yk::mcs
