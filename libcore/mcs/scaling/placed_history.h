// SPDX-License-Identifier: Apache-2.0
#pragma once
// PlacedHistory: how many replicas of a Deployment were placed, as far back as a value of a metric may count. A value
// of type `value` is that of the replicas that ran when it was measured; multiplied with those that run by now, the
// same value would raise the number again each time it is looked at (rs R-114).
//
// Owner: whoever decides for one Deployment. Times are those of a clock that never goes back. Cost: kMostEntries at
// most; then the two oldest become one, which makes a range wider, never narrower.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/base/time.h"

namespace yk::mcs {

/// The least and the most replicas that were placed within some time.
struct PlacedRange {
    std::int64_t least = 0;
    std::int64_t most = 0;
    friend bool operator==(const PlacedRange&, const PlacedRange&) = default;
};

class PlacedHistory {
public:
    static constexpr std::size_t kMostEntries = 16;

    /// So many are placed `now`.
    void note(std::int64_t placed, Instant now) {
        if (!now_) begun_ = now;
        if (now_ && *now_ != placed) past_.push_back({now, {*now_, *now_}});
        now_ = placed;
        if (past_.size() <= kMostEntries) return;
        past_[1].counts = joined(past_[0].counts, past_[1].counts);
        past_.erase(past_.begin());
    }
    /// Whether it goes back so far.
    [[nodiscard]] bool reaches(Instant at) const { return now_ && begun_ <= at; }
    /// From `at` to the last note. A count lasts until another one is noted: when it really changed is not known.
    [[nodiscard]] PlacedRange since(Instant at) const {
        PlacedRange range{now_.value_or(0), now_.value_or(0)};
        for (const Entry& each : past_)
            if (each.until > at) range = joined(range, each.counts);
        return range;
    }

private:
    struct Entry {
        Instant until; // another count was noted
        PlacedRange counts;
    };
    [[nodiscard]] static PlacedRange joined(const PlacedRange& a, const PlacedRange& b) {
        return {std::min(a.least, b.least), std::max(a.most, b.most)};
    }

    std::vector<Entry> past_; // the oldest first
    std::optional<std::int64_t> now_;
    Instant begun_; // the first note
};

} // namespace yk::mcs
