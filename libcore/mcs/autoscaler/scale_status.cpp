// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/scale_status.h"

#include <algorithm>
#include <utility>

namespace yk::mcs {
namespace {

[[nodiscard]] Condition turned(const Condition& before, bool is_true, std::string_view reason, Instant now) {
    const bool is_news = before.reason.empty() || before.is_true != is_true;
    return {is_true, std::string{reason}, is_news ? now : before.since, {}};
}

/// Decisions that come and go with the metrics have one reason together, or each of them would be a change.
[[nodiscard]] std::pair<bool, std::string_view> activity_of(const Evaluation& made) {
    switch (made.decision) {
    case Decision::Paused:
    case Decision::Disabled:
    case Decision::Manual:
    case Decision::Unreadable: return {false, name_of(made.decision)};
    case Decision::Minimum: return {false, "NoPolicy"};
    default: return {true, made.unreadable > 0 ? "SomeMetricsUnreadable" : "PolicyDecides"};
    }
}

[[nodiscard]] Condition limited(const Condition& before, Limit limit, Instant now) {
    return turned(before, limit != Limit::None, name_of(limit), now);
}

} // namespace

ScaleConditions conditions_after(const ScaleConditions& before, const Evaluation& made, bool is_policy_broken,
                                 std::string_view fault, Instant now) {
    const bool is_paused = made.decision == Decision::Paused && !is_policy_broken;
    const std::string_view able = is_policy_broken ? "PolicyInvalid" : is_paused ? "Paused" : "Ready";
    const auto [is_active, why] = activity_of(made);
    ScaleConditions after{
        turned(before.able_to_scale, !is_policy_broken && !is_paused, able, now),
        turned(before.scaling_active, is_active && !is_policy_broken, is_policy_broken ? able : why, now),
        limited(before.scaling_limited, made.limit, now), limited(before.stabilized, made.stabilized, now)};
    if (made.unreadable > 0 && !is_policy_broken) after.scaling_active.message = fault.substr(0, kLongestMessage);
    return after;
}

RecommendationRange range_of(const ScaleHistory& history) {
    const auto& all = history.recommendations();
    if (all.empty()) return {};
    RecommendationRange range{all.front().lowest, all.front().highest};
    for (const Recommendation& each : all)
        range = {std::min(range.lowest, each.lowest), std::max(range.highest, each.highest)};
    return range;
}

} // namespace yk::mcs
