// SPDX-License-Identifier: Apache-2.0
#pragma once
// Instant and Duration as types; no clock here. Time always comes in as a parameter, so that a run can be replayed.

#include <chrono>
#include <compare>
#include <cstdint>

#include "libcore/base/saturate.h"

namespace yk {

using Duration = std::chrono::nanoseconds;

/// A point in time: nanoseconds since the Unix epoch. Sums saturate: what is set to happen in 290 years never does.
struct Instant {
    std::int64_t ns = 0;

    friend constexpr auto operator<=>(Instant, Instant) = default;
    friend constexpr Instant operator+(Instant at, Duration by) { return {sat_add(at.ns, by.count())}; }
    friend constexpr Instant operator-(Instant at, Duration by) { return {sat_sub(at.ns, by.count())}; }
    friend constexpr Duration operator-(Instant later, Instant earlier) {
        return Duration{sat_sub(later.ns, earlier.ns)};
    }
};

} // namespace yk
