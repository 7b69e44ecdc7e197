// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/metric_proposal.h"

#include <algorithm>

#include "libcore/base/check.h"

namespace yk::mcs {
namespace {

__extension__ using Wide = __int128; // holds any product of two numbers of 64 bits

[[nodiscard]] std::int64_t ceil_div(Wide number, Wide by, std::int64_t most) {
    const Wide quotient = number / by + (number % by > 0 ? 1 : 0);
    return quotient > most ? most : static_cast<std::int64_t>(quotient);
}

/// Whether `value` is so near to `target` that nothing is to change: |value - target| * 1000 <= permille * target,
/// computed so that no product can overflow.
[[nodiscard]] bool is_tolerable(Wide value, Wide target, std::int64_t permille) {
    const Wide distance = value > target ? value - target : target - value;
    return distance <= target / 1000 * permille + target % 1000 * permille / 1000;
}

/// The value is that of all placed replicas; without any, the replicas that would bring it to the target.
[[nodiscard]] std::int64_t propose_value(const MetricTarget& metric, const MetricReading& reading,
                                         const ReplicaCount& count, std::int64_t most) {
    const std::int64_t value = reading.sum;
    const PlacedRange range = reading.placed.value_or(PlacedRange{count.placed, count.placed});
    const std::int64_t placed = value > metric.target ? range.least : range.most;
    if (count.wanted == 0) return ceil_div(value, metric.target, most); // nothing could be multiplied (rs R-116)
    if (is_tolerable(value, metric.target, metric.tolerance_permille)) return count.wanted;
    const std::int64_t multiplied = std::max<std::int64_t>(placed, 1); // without any: the value alone
    const std::int64_t needed = ceil_div(Wide{multiplied} * value, metric.target, most);
    return value > metric.target ? std::max(needed, count.wanted) : std::min(needed, count.wanted);
}

/// The sum with what replicas without a value are taken for: nothing if more are needed, the target if fewer
/// (rs R-114).
[[nodiscard]] Wide whole_sum(const MetricTarget& metric, const MetricReading& reading, const ReplicaCount& count) {
    if (!reading.replicas) return reading.sum;
    const bool is_low = Wide{reading.sum} < Wide{metric.target} * *reading.replicas;
    const std::int64_t missing = std::max<std::int64_t>(0, count.wanted - *reading.replicas);
    return Wide{reading.sum} + (is_low ? Wide{metric.target} * missing : 0);
}

[[nodiscard]] std::int64_t propose_average(const MetricTarget& metric, const MetricReading& reading,
                                           const ReplicaCount& count, std::int64_t most) {
    if (count.wanted == 0) return 0; // no replica has a share: only a `value` metric begins from nothing (rs R-116)
    const Wide sum = whole_sum(metric, reading, count);
    const Wide target = Wide{metric.target} * count.wanted;
    if (is_tolerable(sum, target, metric.tolerance_permille)) return count.wanted;
    if (reading.replicas) { // what is missing, or of replicas that have gone, does not turn the direction
        const bool was_low = Wide{reading.sum} < Wide{metric.target} * *reading.replicas;
        if (was_low ? sum > target : sum < target) return count.wanted;
    }
    return ceil_div(sum, metric.target, most);
}

} // namespace

std::int64_t propose(const MetricTarget& target, const MetricReading& reading, const ReplicaCount& count,
                     std::int64_t most) {
    YK_ASSUME(target.target > 0 && reading.sum >= 0, "targets are above 0, and values not below");
    const bool is_value = target.type == MetricType::Value;
    const std::int64_t replicas =
        is_value ? propose_value(target, reading, count, most) : propose_average(target, reading, count, most);
    return std::min(replicas, most);
}

MetricsProposal propose(std::span<const MetricTarget> targets, std::span<const std::optional<MetricReading>> readings,
                        const ReplicaCount& count, std::int64_t most) {
    YK_CHECK(targets.size() == readings.size(), "there is a reading for each metric, or its absence");
    MetricsProposal all;
    bool has_any = false;
    for (std::size_t at = 0; at < targets.size(); ++at) {
        if (!readings[at]) {
            ++all.unreadable;
            continue;
        }
        const std::int64_t replicas = propose(targets[at], *readings[at], count, most);
        if (has_any && replicas <= all.replicas) continue;
        has_any = true;
        all.replicas = replicas;
        all.decisive = at;
    }
    const std::int64_t kept = std::min(count.wanted, most);
    if (!has_any || (all.unreadable > 0 && all.replicas < kept)) all.replicas = kept;
    if (all.replicas == kept) all.decisive.reset();
    return all;
}

} // namespace yk::mcs
