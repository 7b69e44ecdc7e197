// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lanes: amounts of the first resource types as floats. Comparing them is quick and errs on the safe side: what does
// not fit here does not fit at all; what fits here is then tested exactly. FitNeeds: what up to 64 shapes need, side by
// side, so that one node is compared with all of them at once.

#include <algorithm>
#include <array>
#include <cstdint>

#include "libcore/resources/resource.h"

namespace yk {

/// Resource types that index summaries cover; further ones are tested on the node only.
inline constexpr std::size_t kLanes = 4;
using Lanes = std::array<float, kLanes>;

/// `max(0, amount)` as a float. The conversion keeps the order, so float comparison is a safe bound.
[[nodiscard]] inline float lane_of(std::int64_t amount) noexcept {
    return static_cast<float>(std::max<std::int64_t>(amount, 0));
}
/// lane_of() for each of the first kLanes types.
[[nodiscard]] Lanes lanes_of(const Resource& amounts) noexcept;

[[nodiscard]] inline bool within(const Lanes& need, const Lanes& available) noexcept {
    return need[0] <= available[0] && need[1] <= available[1] && need[2] <= available[2] && need[3] <= available[3];
}

[[nodiscard]] inline bool same(const Lanes& a, const Lanes& b) noexcept {
    return (a[0] == b[0]) & (a[1] == b[1]) & (a[2] == b[2]) & (a[3] == b[3]);
}

/// Lane by lane the larger one.
inline void raise(Lanes& to, const Lanes& from) noexcept {
    for (std::size_t lane = 0; lane < kLanes; ++lane) to[lane] = to[lane] > from[lane] ? to[lane] : from[lane];
}

/// Whether `largest` may become less in some lane when an entry changes from `before` to `after`: the entry had the
/// largest amount there and has less now.
[[nodiscard]] inline bool holds_up(const Lanes& largest, const Lanes& before, const Lanes& after) noexcept {
    bool held = false;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        held |= (before[lane] >= largest[lane]) & (after[lane] < before[lane]);
    return held;
}

inline constexpr std::size_t kFitBits = 64;

/// What up to kFitBits shapes need, one bit for each. A comparison costs four shapes at a time.
class FitNeeds {
public:
    FitNeeds();
    void set(std::size_t bit, const Lanes& need);
    void clear(std::size_t bit); // the bit is free: within() never sets it
    [[nodiscard]] Lanes get(std::size_t bit) const noexcept;
    /// Bit b of the result is set when the shape on b might fit into `available`. Only the first `used` bits are
    /// tested; further ones may be set or not.
    [[nodiscard]] std::uint64_t within(const Lanes& available, std::size_t used = kFitBits) const noexcept;

private:
    alignas(16) std::array<std::array<float, kFitBits>, kLanes> needs_;
};

} // namespace yk
