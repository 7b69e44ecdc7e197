// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScaleHistory: what a decision has to know of those before it: which numbers were recommended, and when the number
// changed. From it follow the two brakes of scaling: stabilisation, which asks for a steady recommendation (rs R-117),
// and rates, which bound the change within a period (rs R-118).
//
// Both lists are short: at most kMostEntries, the oldest first. When one is full, the two neighbours that span the
// least time become one, which keeps what the brakes look for: extremes and sums, at the later of the two times. So an
// old entry may count longer than it should, never shorter.
//
// Owner: whoever decides for one Deployment. Times are those of a clock that never goes back.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/mcs/scaling/scaling_policy.h"

namespace yk::mcs {

/// Numbers that were recommended, at `at` the last one of them.
struct Recommendation {
    Instant at;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    friend bool operator==(const Recommendation&, const Recommendation&) = default;
};

/// The number changed, at `at` for the last time.
struct ScaleEvent {
    Instant at;
    std::int64_t added = 0;
    std::int64_t removed = 0;
    friend bool operator==(const ScaleEvent&, const ScaleEvent&) = default;
};

class ScaleHistory {
public:
    static constexpr std::size_t kMostEntries = 64;

    ScaleHistory() = default;
    /// As it was kept somewhere else, the oldest first; of lists that are too long the newest entries. REQUIRES: no
    /// entry is older than the one before it.
    ScaleHistory(std::vector<Recommendation> recommendations, std::vector<ScaleEvent> events);

    [[nodiscard]] const std::vector<Recommendation>& recommendations() const { return recommendations_; }
    [[nodiscard]] const std::vector<ScaleEvent>& events() const { return events_; }

    /// A decision came to `replicas`, before the brakes. Once more at the same time is the same decision again.
    void recommend(std::int64_t replicas, Instant now);
    /// The number was changed from `before` to `after`.
    void scaled(std::int64_t before, std::int64_t after, Instant now);
    /// Forgets what is older than any window or period of the rules.
    void forget(const DirectionRules& up, const DirectionRules& down, Instant now);

    /// What remains of a change from `current` to `wanted`: down to no less than the highest recommendation within the
    /// down window, up to no more than the lowest within the up window. REQUIRES: `wanted` was recommended `now`.
    [[nodiscard]] std::int64_t stabilized(std::int64_t current, std::int64_t wanted, Duration up_window,
                                          Duration down_window, Instant now) const;
    /// The highest number that the rules for growing allow now, and the lowest that those for shrinking do.
    [[nodiscard]] std::int64_t upper_limit(std::int64_t current, const DirectionRules& up, Instant now) const;
    [[nodiscard]] std::int64_t lower_limit(std::int64_t current, const DirectionRules& down, Instant now) const;

private:
    [[nodiscard]] std::int64_t at_start_of(const RateRule& rule, std::int64_t current, Instant now) const;

    std::vector<Recommendation> recommendations_;
    std::vector<ScaleEvent> events_;
};

} // namespace yk::mcs
