// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many replicas a metric asks for. Integers only, with 128 bits in between, so that 3 * 0.1 / 0.1 is 3 (rs R-113).

#include <cstdint>
#include <optional>
#include <span>

#include "libcore/mcs/scaling/placed_history.h"
#include "libcore/mcs/scaling/scaling_policy.h"

namespace yk::mcs {

/// What is known of a metric now.
struct MetricReading {
    std::int64_t sum = 0;                   // thousandths, not below 0: the value, or the sum of those of the replicas
    std::optional<std::int64_t> replicas{}; // that gave a value each; nullopt: `sum` is of the whole
    Instant at{};                           // one of the whole was measured
    std::optional<PlacedRange> placed{};    // replicas, since then; nullopt: as many as now
};

/// The number that there was until now.
struct ReplicaCount {
    std::int64_t wanted = 0; // the desired number so far
    std::int64_t placed = 0; // replicas that run; one that is only asked for has no part in a metric (rs R-114)
};

/// The number that one metric asks for, at most `most`. Within the tolerance that is what was wanted so far. A metric
/// above its target never asks for less than that, one below never for more, however few of the replicas are placed.
/// A `value` is one of the replicas that were placed when it was measured: where these became more or fewer since, it
/// asks for the smaller change (rs R-114).
[[nodiscard]] std::int64_t propose(const MetricTarget& target, const MetricReading& reading, const ReplicaCount& count,
                                   std::int64_t most);

/// What several metrics ask for together: the largest of their numbers (rs R-115).
struct MetricsProposal {
    std::int64_t replicas = 0;
    std::optional<std::size_t> decisive; // the metric that asked for it; nullopt: nothing changes
    std::size_t unreadable = 0;
};

/// `readings` are of the targets at the same places; nullopt: it could not be read. While there is one of these, no
/// metric can lower the number. REQUIRES: as many readings as targets.
[[nodiscard]] MetricsProposal propose(std::span<const MetricTarget> targets,
                                      std::span<const std::optional<MetricReading>> readings, const ReplicaCount& count,
                                      std::int64_t most);

} // namespace yk::mcs
