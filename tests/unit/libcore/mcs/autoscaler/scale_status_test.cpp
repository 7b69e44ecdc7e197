// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/scale_status.h"

#include <catch2/catch.hpp>

namespace yk::testing {

using namespace mcs;

namespace {

ScaleConditions after(const Evaluation& made, bool is_policy_broken = false) {
    return conditions_after({}, made, is_policy_broken, {}, Instant{5});
}

} // namespace

TEST_CASE("each decision has its conditions, with a reason each") {
    const auto active = [](Decision decision) { return after({1, decision}).scaling_active; };
    CHECK(active(Decision::Disabled) == Condition{false, "ScalingDisabled", {}});
    CHECK(active(Decision::Manual) == Condition{false, "ManualReplicas", {}});
    CHECK(active(Decision::Minimum) == Condition{false, "NoPolicy", {}});
    CHECK(active(Decision::Unreadable) == Condition{false, "MetricsUnreadable", {}});
    CHECK(active(Decision::Schedule) == Condition{true, "PolicyDecides", {}});
    CHECK(after({1, Decision::Manual}).able_to_scale == Condition{true, "Ready", {}});
    CHECK(after({1, Decision::Paused}).able_to_scale == Condition{false, "Paused", {}});
    CHECK(after({1, Decision::Paused}, true).able_to_scale == Condition{false, "PolicyInvalid", {}});
    CHECK(after({1, Decision::Paused}, true).scaling_active == Condition{false, "PolicyInvalid", {}});
    CHECK(after({1, Decision::Manual}).scaling_limited == Condition{false, "None", {}});
    CHECK(after({1, Decision::MetricAbove, Limit::UpRate}).scaling_limited == Condition{true, "UpRate", {}});
    CHECK(after({1, Decision::MetricBelow, Limit::None, Limit::DownWindow}).stabilized ==
          Condition{true, "DownWindow", {}});
}

TEST_CASE("metrics that come and go change no condition, one that cannot be read does") {
    const ScaleConditions above = after({5, Decision::MetricAbove});
    CHECK(above == after({4, Decision::MetricBelow}));
    CHECK(above == after({4, Decision::Unchanged}));
    Evaluation partly{5, Decision::MetricAbove};
    partly.unreadable = 1;
    CHECK(after(partly).scaling_active == Condition{true, "SomeMetricsUnreadable", {}});
}

TEST_CASE("rs R-121 why a metric cannot be read is said by one condition, as long as it cannot") {
    Evaluation partly{5, Decision::MetricAbove};
    partly.unreadable = 1;
    const ScaleConditions said = conditions_after({}, partly, false, "metric load: gone", Instant{1});
    CHECK(said.scaling_active.message == "metric load: gone");
    CHECK(said.able_to_scale.message.empty());
    CHECK(conditions_after({}, partly, true, "metric load: gone", Instant{1}).scaling_active.message.empty());
    CHECK(conditions_after(said, {5, Decision::MetricAbove}, false, {}, Instant{2}).scaling_active.message.empty());
}

TEST_CASE("a condition has its age since it became true or false, whatever its reason since then") {
    const ScaleConditions first =
        conditions_after({}, {9, Decision::MetricAbove, Limit::UpRate}, false, {}, Instant{1});
    const ScaleConditions next =
        conditions_after(first, {9, Decision::MetricAbove, Limit::MaxReplicas}, false, {}, Instant{2});
    CHECK(next.scaling_limited.since == Instant{1});
    CHECK(next.scaling_limited.reason == "MaxReplicas");
    CHECK(next != first);
    const ScaleConditions last = conditions_after(next, {9, Decision::MetricAbove}, false, {}, Instant{3});
    CHECK(last.scaling_limited.since == Instant{3});
    CHECK(last.able_to_scale.since == Instant{1});
}

TEST_CASE("rs R-119 the range of a history is that of its recommendations") {
    ScaleHistory history;
    CHECK(range_of(history) == RecommendationRange{0, 0});
    history.recommend(4, Instant{1});
    history.recommend(9, Instant{2});
    history.recommend(6, Instant{3});
    CHECK(range_of(history) == RecommendationRange{4, 9});
}

} // namespace yk::testing
