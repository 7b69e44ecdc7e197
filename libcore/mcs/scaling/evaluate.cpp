// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/evaluate.h"

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/base/saturate.h"
#include "libcore/mcs/scaling/weekly_schedule.h"

namespace yk::mcs {
namespace {

void bound(Evaluation& made, const ReplicaBounds& bounds) {
    if (made.desired > bounds.max) made.limit = Limit::MaxReplicas;
    if (made.desired < bounds.min) made.limit = Limit::MinReplicas;
    made.desired = std::clamp(made.desired, bounds.min, bounds.max);
}

[[nodiscard]] Evaluation given(const EvaluationInput& input) {
    if (*input.manual == 0 && input.bounds.min > 0) return {0, Decision::Disabled};
    Evaluation made{*input.manual, Decision::Manual};
    bound(made, input.bounds);
    return made;
}

/// Holds `proposed` back as the history says.
void brake(Evaluation& made, std::int64_t proposed, const EvaluationInput& input, const ScaleHistory& history) {
    const DirectionRules& up = input.policy.up;
    const DirectionRules& down = input.policy.down;
    const std::int64_t current = input.count.wanted;
    const std::int64_t steady = history.stabilized(current, proposed, up.window, down.window, input.now);
    if (steady != proposed) made.stabilized = proposed > steady ? Limit::UpWindow : Limit::DownWindow;
    const std::int64_t most = history.upper_limit(current, up, input.now);
    const std::int64_t least = history.lower_limit(current, down, input.now);
    if (steady > most) made.limit = Limit::UpRate;
    if (steady < least) made.limit = Limit::DownRate;
    made.desired = std::clamp(steady, least, most);
}

[[nodiscard]] Decision decision_of(const MetricsProposal& proposal, std::int64_t current) {
    if (proposal.decisive) return proposal.replicas > current ? Decision::MetricAbove : Decision::MetricBelow;
    return proposal.unreadable > 0 ? Decision::Unreadable : Decision::Unchanged;
}

[[nodiscard]] Evaluation from_metrics(const EvaluationInput& input, ScaleHistory& history) {
    const ScalingPolicy& policy = input.policy;
    const MetricsProposal proposal = propose(policy.metrics, input.readings, input.count, kMaxQuantity);
    Evaluation made{input.count.wanted, decision_of(proposal, input.count.wanted)};
    made.metric = proposal.decisive;
    made.unreadable = proposal.unreadable;
    const std::int64_t proposed = std::clamp(proposal.replicas, input.bounds.min, input.bounds.max);
    history.recommend(proposed, input.now);
    history.forget(policy.up, policy.down, input.now);
    brake(made, proposed, input, history);
    if (proposed != proposal.replicas && made.desired == proposed)
        made.limit = proposed < proposal.replicas ? Limit::MaxReplicas : Limit::MinReplicas;
    return made;
}

/// The schedule's number is the least, at once: it has no brakes.
void add_schedule(Evaluation& made, const EvaluationInput& input) {
    const auto entry = entry_at(input.policy.schedule, input.wall);
    if (!entry || (!input.policy.metrics.empty() && input.policy.schedule[*entry].replicas <= made.desired)) return;
    made.desired = input.policy.schedule[*entry].replicas;
    made.decision = Decision::Schedule;
    made.metric.reset();
    made.limit = made.stabilized = Limit::None;
}

} // namespace

Evaluation evaluate(const EvaluationInput& input, ScaleHistory& history) {
    YK_CHECK(input.bounds.min >= 0 && input.bounds.min <= input.bounds.max, "the least is not above the most");
    const std::int64_t current = input.count.wanted;
    if (input.is_paused) return {current, Decision::Paused};
    if (input.manual) return given(input);
    if (input.policy.metrics.empty() && input.policy.schedule.empty()) return {input.bounds.min, Decision::Minimum};
    Evaluation made{input.bounds.min, Decision::Minimum};
    if (current < input.bounds.min || current > input.bounds.max) {
        made = {current, Decision::OutOfBounds};
        bound(made, input.bounds);
    } else if (!input.policy.metrics.empty()) {
        made = from_metrics(input, history);
    }
    add_schedule(made, input);
    if (made.decision != Decision::OutOfBounds) {
        const Limit before = made.limit;
        made.limit = Limit::None;
        bound(made, input.bounds);
        if (made.limit == Limit::None) made.limit = before;
    }
    return made;
}

std::string_view name_of(Decision decision) {
    switch (decision) {
    case Decision::Paused: return "Paused";
    case Decision::Disabled: return "ScalingDisabled";
    case Decision::Manual: return "ManualReplicas";
    case Decision::Minimum: return "MinReplicas";
    case Decision::OutOfBounds: return "OutOfBounds";
    case Decision::Schedule: return "Schedule";
    case Decision::MetricAbove: return "MetricAboveTarget";
    case Decision::MetricBelow: return "MetricBelowTarget";
    case Decision::Unchanged: return "WithinTolerance";
    case Decision::Unreadable: return "MetricsUnreadable";
    }
    YK_UNREACHABLE("a decision without a name");
}

std::string_view name_of(Limit limit) {
    switch (limit) {
    case Limit::None: return "None";
    case Limit::MaxReplicas: return "MaxReplicas";
    case Limit::MinReplicas: return "MinReplicas";
    case Limit::UpRate: return "UpRate";
    case Limit::DownRate: return "DownRate";
    case Limit::UpWindow: return "UpWindow";
    case Limit::DownWindow: return "DownWindow";
    }
    YK_UNREACHABLE("a limit without a name");
}

} // namespace yk::mcs
