// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/scale_decision.h"

#include <algorithm>

namespace yk::mcs {
namespace {

constexpr Duration kHistoryPause = minutes{1};  // between two writes of a history alone
constexpr Duration kMessagePause = seconds{15}; // and of what is for people alone

/// The number so far. A Deployment that never had a scale begins with its least.
[[nodiscard]] std::int64_t wanted_so_far(const DecisionInput& input) {
    if (input.last == nullptr) return bounds_of(input.deployment).min;
    return std::max<std::int64_t>(0, input.last->row->desired);
}

/// A policy that cannot be understood keeps the number, within the bounds. A paused Deployment keeps its number too,
/// but has to get a first one.
[[nodiscard]] Evaluation evaluate(const DecisionInput& input, std::int64_t wanted, ScaleHistory& history) {
    const Deployment& deployment = input.deployment;
    const ReplicaBounds bounds = bounds_of(deployment);
    const bool is_paused = deployment.is_paused && input.last != nullptr;
    const bool is_kept = input.is_policy_broken && !deployment.replicas;
    Evaluation made = evaluate({input.policy,
                                bounds,
                                deployment.replicas,
                                is_paused || is_kept,
                                {wanted, input.placed},
                                input.readings,
                                input.now,
                                input.wall},
                               history);
    if (is_kept && !is_paused) made = {std::clamp(wanted, bounds.min, bounds.max), Decision::OutOfBounds};
    return made;
}

/// Which decision, and the metric behind it if it was one.
[[nodiscard]] std::string reason_of(const Evaluation& made, const ScalingPolicy& policy) {
    std::string reason{name_of(made.decision)};
    if (made.metric) reason += ": " + policy.metrics[*made.metric].name;
    return reason;
}

[[nodiscard]] DeploymentScale row_of(const DecisionInput& input) {
    if (input.is_there) return *input.last->row;
    DeploymentScale row;
    row.meta.id = input.deployment.meta.id;
    row.owner = {kDeploymentKind, input.deployment.meta.id, input.deployment.meta.uid};
    if (input.last != nullptr) row.reason = input.last->row->reason;
    return row;
}

[[nodiscard]] bool is_needed(const DecisionInput& input, const ScaleDecision& made) {
    if (!input.is_there || input.last->is_foreign) return true;
    const DeploymentScale& present = *input.last->row;
    if (made.row.desired != present.desired || made.row.observed_generation != present.observed_generation) return true;
    if (made.row.reason != present.reason || made.status.conditions != input.last->status.conditions) return true;
    const Duration since = input.now - input.last_write;
    const Condition& active = input.last->status.conditions.scaling_active;
    if (made.status.conditions.scaling_active.message != active.message && since >= kMessagePause) return true;
    return range_of(made.history) != input.last->written && since >= kHistoryPause;
}

} // namespace

ReplicaBounds bounds_of(const Deployment& deployment) {
    const std::int64_t least = std::max<std::int64_t>(0, deployment.min_replicas);
    return {least, std::max(least, deployment.max_replicas)};
}

ScaleDecision decide(const DecisionInput& input) {
    ScaleDecision made;
    const ScaleStatus before = input.last == nullptr ? ScaleStatus{} : input.last->status;
    const std::int64_t wanted = wanted_so_far(input);
    made.history = before.history;
    const Evaluation evaluation = evaluate(input, wanted, made.history);
    made.row = row_of(input);
    made.row.desired = evaluation.desired;
    made.row.observed_generation = input.deployment.meta.generation;
    made.decision = evaluation.decision;
    made.before = wanted;
    made.status = {conditions_after(before.conditions, evaluation, input.is_policy_broken, input.fault, input.now),
                   before.last_scaled, made.history};
    if (evaluation.desired != wanted || made.row.reason.empty()) {
        made.row.reason = reason_of(evaluation, input.policy);
        made.status.last_scaled = input.now;
        made.status.history.scaled(wanted, evaluation.desired, input.now);
    }
    made.is_needed = is_needed(input, made);
    return made;
}

} // namespace yk::mcs
