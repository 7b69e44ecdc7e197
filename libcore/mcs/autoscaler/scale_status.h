// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScaleStatus: what is known of a DeploymentScale besides its number: conditions for whoever looks at it, and the
// history that the next decision needs. Plain values; the database keeps them as a text with ages (ScaleTexts).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/time.h"
#include "libcore/mcs/scaling/evaluate.h"

namespace yk::mcs {

/// Whether something holds, why, and since when. The reason is one word and has no figures, so that it changes only
/// when the condition means something else.
struct Condition {
    bool is_true = false;
    std::string reason;    // empty: never looked at
    Instant since;         // `is_true` has been so; no part of what is compared
    std::string message{}; // more for people: which metric cannot be read, why, and the way out; not compared either

    friend bool operator==(const Condition& a, const Condition& b) {
        return a.is_true == b.is_true && a.reason == b.reason;
    }
};

/// The four conditions of a scale (rs R-121).
struct ScaleConditions {
    Condition able_to_scale;   // false: the Deployment is paused, or its policy cannot be understood
    Condition scaling_active;  // false: something else than a policy gives the number, or no metric can be read
    Condition scaling_limited; // a bound or a rate keeps the number from what is proposed
    Condition stabilized;      // so does a window

    friend bool operator==(const ScaleConditions&, const ScaleConditions&) = default;
};

/// What the conditions are after a decision; each keeps its time while it stays as true or false as `before`.
/// `fault`: why metrics could not be read, for people; it is cut to kLongestMessage bytes.
[[nodiscard]] ScaleConditions conditions_after(const ScaleConditions& before, const Evaluation& made,
                                               bool is_policy_broken, std::string_view fault, Instant now);
inline constexpr std::size_t kLongestMessage = 500;

struct ScaleStatus {
    ScaleConditions conditions;
    std::optional<Instant> last_scaled; // when the number changed last
    ScaleHistory history;
};

/// The least and the most of the recommendations that are kept; 0 to 0 if there is none. While these stay the same, a
/// history that was written earlier holds back as much as the present one, since time passes for neither until it is
/// read: so only a change of these is news for the database.
struct RecommendationRange {
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    friend bool operator==(const RecommendationRange&, const RecommendationRange&) = default;
};
[[nodiscard]] RecommendationRange range_of(const ScaleHistory& history);

} // namespace yk::mcs
