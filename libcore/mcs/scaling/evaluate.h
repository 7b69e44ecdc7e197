// SPDX-License-Identifier: Apache-2.0
#pragma once
// evaluate(): the number of replicas of one Deployment, and why. Pure but for the history, which it adds to.
//
// In this order: a paused Deployment keeps its number; one whose number is given has that; else the metrics propose,
// the brakes of ScaleHistory hold the change back, and the schedule's number is the least. The bounds come first and
// last: they need no window (rs ).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "libcore/mcs/scaling/metric_proposal.h"
#include "libcore/mcs/scaling/scale_history.h"

namespace yk::mcs {

struct EvaluationInput {
    const ScalingPolicy& policy;
    ReplicaBounds bounds;
    std::optional<std::int64_t> manual; // the number that a user gave; nullopt: the policy decides
    bool is_paused = false;
    ReplicaCount count;
    std::span<const std::optional<MetricReading>> readings; // of the policy's metrics
    Instant now;                                            // of a clock that never goes back
    Instant wall;                                           // of the calendar, for the schedule
};

/// What decided the number.
enum class Decision : std::uint8_t {
    Paused,
    Disabled, // 0 was given although the least is more: scaling is off (rs R-116)
    Manual,
    Minimum, // there is no policy, and so it is the least
    OutOfBounds,
    Schedule,
    MetricAbove,
    MetricBelow,
    Unchanged,
    Unreadable // no metric could be read, or only such that would lower the number
};
[[nodiscard]] std::string_view name_of(Decision decision);

/// What kept the number from being what was proposed.
enum class Limit : std::uint8_t { None, MaxReplicas, MinReplicas, UpRate, DownRate, UpWindow, DownWindow };
[[nodiscard]] std::string_view name_of(Limit limit);

struct Evaluation {
    std::int64_t desired = 0;
    Decision decision{};
    Limit limit = Limit::None;           // bounds and rates: the condition ScalingLimited
    Limit stabilized = Limit::None;      // windows: the condition Stabilized
    std::optional<std::size_t> metric{}; // that decided; an index into the policy
    std::size_t unreadable = 0;          // metrics
};

/// REQUIRES: as many readings as metrics; bounds as ReplicaBounds says. Calling it again at the same `now`, before the
/// number was changed, gives the same.
[[nodiscard]] Evaluation evaluate(const EvaluationInput& input, ScaleHistory& history);

} // namespace yk::mcs
