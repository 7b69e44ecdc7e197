// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScalingPolicy: what a user wants of the number of replicas of a Deployment: metrics with targets, hours of the week,
// and how fast the number may change. Plain values, with the defaults and ranges of docs/spec/resource-state.md
// (section 13.1). Metric values and targets are thousandths, so that no arithmetic needs a floating point.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/time.h"

namespace yk::mcs {

using std::chrono::minutes;
using std::chrono::seconds;

/// How a metric is compared with its target (rs R-113).
enum class MetricType : std::uint8_t {
    Value,  // one number of the whole, such as a latency: it should be the target
    Average // a number of all replicas together: each one's share should be the target
};

/// Who says the metric's value (rs R-112).
enum class MetricSource : std::uint8_t { Push, Core, Prometheus };

struct MetricTarget {
    std::string name;
    MetricSource source = MetricSource::Push;
    MetricType type = MetricType::Value;
    std::int64_t target = 1000;                // thousandths; above 0
    std::int64_t tolerance_permille = 100;     // so far off the target nothing changes
    Duration max_age = seconds{90};            // an older value counts as not readable
    std::string url;                           // of Prometheus: the page of text that has the metric
    std::map<std::string, std::string> labels; // of Prometheus: those that the metric must have there
    Duration timeout = seconds{2};             // of Prometheus: how long the page may take
    friend bool operator==(const MetricTarget&, const MetricTarget&) = default;
};

/// From a time of some days of the week on there are so many replicas, until the next entry begins (rs R-110).
struct ScheduleEntry {
    std::uint8_t days = kEveryDay; // bit 0: Monday
    std::uint16_t minute = 0;      // of the day, UTC; below 1440
    std::int64_t replicas = 0;
    static constexpr std::uint8_t kEveryDay = 0x7f;
    friend bool operator==(const ScheduleEntry&, const ScheduleEntry&) = default;
};

/// In each period the number may change by so much (rs R-118).
struct RateRule {
    enum class Type : std::uint8_t { Replicas, Percent };
    Type type = Type::Replicas;
    std::int64_t value = 0; // above 0
    Duration period = seconds{15};
    friend bool operator==(const RateRule&, const RateRule&) = default;
};

/// How the number may change in one direction.
struct DirectionRules {
    enum class Select : std::uint8_t { Max, Min, Disabled }; // of several rules: the most or the least generous; never
    Select select = Select::Max;
    Duration window{};           // stabilisation: rs R-117
    std::vector<RateRule> rates; // none: no limit
    friend bool operator==(const DirectionRules&, const DirectionRules&) = default;
};

[[nodiscard]] inline DirectionRules default_up() {
    using Type = RateRule::Type;
    return {DirectionRules::Select::Max, {}, {{Type::Replicas, 4, seconds{15}}, {Type::Percent, 100, seconds{15}}}};
}
[[nodiscard]] inline DirectionRules default_down() {
    return {DirectionRules::Select::Max, seconds{300}, {{RateRule::Type::Percent, 100, seconds{15}}}};
}

struct ScalingPolicy {
    std::vector<MetricTarget> metrics;
    std::vector<ScheduleEntry> schedule;
    DirectionRules up = default_up();
    DirectionRules down = default_down();
    friend bool operator==(const ScalingPolicy&, const ScalingPolicy&) = default;
};

/// The number of replicas that a Deployment allows. REQUIRES: 0 <= min <= max.
struct ReplicaBounds {
    std::int64_t min = 0;
    std::int64_t max = 0;
};

} // namespace yk::mcs
