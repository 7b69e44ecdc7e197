#pragma once
// Lanes: amounts of the first resource types as floats, a bound on the safe side that is quick to compare; what passes
// is tested exactly. FitNeeds: what up to 64 shapes need, side by side, so that one node is compared with all of them
// at once.

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
/// The same of the first types.
[[nodiscard]] Lanes lanes_of(const Resource& amounts) noexcept;

[[nodiscard]] inline bool within(const Lanes& need, const Lanes& room) noexcept {
    return need[0] <= room[0] && need[1] <= room[1] && need[2] <= room[2] && need[3] <= room[3];
}

[[nodiscard]] inline bool same(const Lanes& a, const Lanes& b) noexcept {
    return (a[0] == b[0]) & (a[1] == b[1]) & (a[2] == b[2]) & (a[3] == b[3]);
}

/// Lane by lane the larger one.
inline void raise(Lanes& to, const Lanes& from) noexcept {
    for (std::size_t lane = 0; lane < kLanes; ++lane) to[lane] = to[lane] > from[lane] ? to[lane] : from[lane];
}

/// Whether a largest amount may be that of `gone` alone, which `fresh` does not reach.
[[nodiscard]] inline bool holds_up(const Lanes& largest, const Lanes& gone, const Lanes& fresh) noexcept {
    bool held = false;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        held |= (gone[lane] >= largest[lane]) & (fresh[lane] < gone[lane]);
    return held;
}

inline constexpr std::size_t kFitBits = 64;

class FitNeeds {
public:
    FitNeeds();
    void set(std::size_t bit, const Lanes& need);
    void clear(std::size_t bit); // nothing fits a free bit
    [[nodiscard]] Lanes get(std::size_t bit) const noexcept;
    /// Bit b is set when the shape on b might fit into `room`; for the first `used` bits, others may be left out.
    [[nodiscard]] std::uint64_t within(const Lanes& room, std::size_t used = kFitBits) const noexcept;

private:
    alignas(16) std::array<std::array<float, kFitBits>, kLanes> needs_;
};

} // namespace yk
